"""Charts of all that a notebook shows: axes come back, and no cell is in them."""

from __future__ import annotations

import matplotlib
import pyarrow as pa
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes

import hushtable as ht
from hushtable.errors import UsageError

matplotlib.use("Agg")


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return pa.table(
        {
            "age": [27, 28, 26, 25, 41, 48, 45, 42, 33, 37, 36, 35],
            "town": [f"CANARY{i % 4}" for i in range(12)],
            "disease": "HIV HIV Cancer Cancer Hepatitis Phthisis Asthma Obesity Flu Flu Flu Indigestion".split(),
        }
    )


@pytest.fixture(scope="module")
def policy() -> ht.Policy:
    return ht.Policy(quasi=["age", "town"], sensitive=["disease"], models=[ht.KAnonymity(k=3)])


@pytest.fixture
def shown(table, policy):
    """Everything that draws itself, by name."""
    release = ht.anonymize(table, policy)
    return {
        "profile": ht.profile(table),
        "release": release,
        "risks": release.risk(),
        "risk": release.risk("prosecutor"),
        "attack": release.attack("homogeneity"),
        "comparison": ht.compare(table, policy, {"models": [{"k-anonymity": {"k": [2, 3]}}]}),
        "audit": ht.audit(table, ["age"], ["disease"]),
    }


def texts(ax: Axes) -> str:
    labels = [*ax.get_xticklabels(), *ax.get_yticklabels(), *ax.texts, ax.title, ax.xaxis.label, ax.yaxis.label]
    return " ".join(label.get_text() for label in labels)


def test_charts_return_axes_without_a_cell(shown):
    for name, found in shown.items():
        made = found.plot()
        assert isinstance(made, Axes), name
        assert made.has_data(), name
        assert made.get_xlabel(), name
        figure, own = pyplot.subplots()
        assert found.plot(ax=own) is own
        for ax in (made, own):
            ax.figure.canvas.draw()
            assert "CANARY" not in texts(ax) and "Phthisis" not in texts(ax), name
        pyplot.close("all")
        with pytest.raises(UsageError, match="A chart needs matplotlib axes, not str"):
            found.plot(ax="here")


def test_the_loss_of_columns_and_the_sizes_of_classes(shown):
    release = shown["release"]
    loss = release.plot()
    assert [t.get_text() for t in loss.get_yticklabels()] == ["age", "town"]
    assert sum(bar.get_width() for bar in loss.patches) / 2 == pytest.approx(release.measure("ncp"))
    sizes = release.plot("classes")
    assert sum(bar.get_height() for bar in sizes.patches) == 12
    pyplot.close("all")
    with pytest.raises(UsageError, match="must be a value of 'loss', 'classes', 'partition', not 'pie'"):
        release.plot("pie")


def test_a_partition_has_a_box_for_each_class(shown):
    release = shown["release"]
    drawn = release.plot("partition", columns=["town", "age"])
    assert (drawn.get_xlabel(), drawn.get_ylabel()) == ("town", "age")
    assert len(drawn.patches) == len(release.groups)
    assert len(drawn.collections[0].get_offsets()) == 12
    assert [t.get_text() for t in release.plot("partition").get_yticklabels()][:1] != []
    pyplot.close("all")
    with pytest.raises(UsageError, match="accepts no columns"):
        release.plot("loss", columns=["town", "age"])


def test_everything_has_html(shown):
    release = shown["release"]
    more = [release.verify(), release.explain(0), shown["comparison"].suggest(), release.policy and policy_of(release)]
    for found in (*shown.values(), *more):
        page = found._repr_html_()
        assert page.startswith("<") and "CANARY" not in page and "Phthisis" not in page, found


def policy_of(release) -> ht.Policy:
    return ht.Policy(**release.policy)


def test_no_release_is_nothing_to_draw(table, policy):
    none = ht.compare(table, policy, {"models": [{"k-anonymity": {"k": [99]}}]})
    with pytest.raises(UsageError, match="no chart to draw"):
        none.plot()
