"""The five rows at the top of a model's page: every model has some, and the verifier refuses them."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pandas as pd
import pytest
import yaml

import hushtable as ht
from hushtable.errors import IncompatibleError, UsageError
from hushtable.models.base import Stat
from hushtable.registry import models

GENERATOR = Path(__file__).resolve().parents[1] / "docs" / "generator" / "forbidden.py"


@pytest.fixture(scope="module")
def generator():
    spec = importlib.util.spec_from_file_location("forbidden", GENERATOR)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", models)
def test_the_verifier_refuses_them(generator, name):
    text = generator.forbidden(models[name])
    head, *rows = (
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith("| ") and "---" not in line
    )
    frame = pd.DataFrame(rows, columns=head)
    assert len(frame) == 5 and "is required." in text
    if "verdict" in frame:
        assert "forbidden" in set(frame.pop("verdict")) <= {"forbidden", "allowed"}
    columns = {name: {"role": "quasi" if name in ("age", "town") else "sensitive"} for name in frame}
    if "income" in frame:
        frame["income"] = frame["income"].astype(int)
    if "disease" in frame:
        columns["disease"] |= {"categories": generator._CATEGORIES, "hierarchy": {"tree": generator._TREE}}
    values = yaml.safe_load(re.search(r"`\S+: (.*})` forbids", text)[1])
    on = {"on": next(n for n in frame if n not in ("age", "town"))} if "disease" in frame or "income" in frame else {}
    policy = {"columns": columns, "models": [{name: {**values, **on}}], "algorithm": "mondrian"}
    try:
        ok, refused = ht.verify(frame, ht.Policy(**policy)).ok, None
    except (IncompatibleError, UsageError) as error:
        ok, refused = False, error
    assert not ok
    if refused is not None:
        # it needs more than published rows: the whole table, a population, or how the records were drawn
        model = models[name].build({**values, **on})
        more = model.stats_needed() - {Stat.SIZE, Stat.HISTOGRAM, Stat.CELLS}
        assert more or model.drawing() or refused.code == "needs-companion", refused


def test_a_model_that_allows_everything_has_none(generator):
    from hushtable.models.k_anonymity import KAnonymity

    class Anything(KAnonymity):
        def satisfied(self, groups, table):
            return super().satisfied(groups, table) | True

    assert generator.forbidden(Anything) == ""
