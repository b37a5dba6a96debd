from __future__ import annotations

import datetime
import os
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from hushtable.errors import HierarchyError, OutputError, ParameterError
from hushtable.hierarchy import taxonomy
from hushtable.hierarchy.frequency import Frequency
from hushtable.hierarchy.taxonomy import Taxonomy, write_csv
from hushtable.schema.columns import Kind


def code(recipe, values, kind=Kind.NOMINAL, arrow=None, missing=False, counts=None):
    array = pa.array(values, arrow)
    counts = np.ones(len(array), dtype=np.int64) if counts is None else np.array(counts)
    return recipe.code(array, kind, missing=missing, column="place", counts=counts)


def from_text(tmp_path, text, name="h.csv", **params):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return Taxonomy(file=str(path), **params)


EXPECTED = (("Japan", "France", "Spain"), ("Asia", "Europe"), ("*",))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("separator", [";", ",", "\t"])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
def test_separators_line_ends_and_bom(tmp_path, end, separator, bom):
    rows = ["Spain;Europe;*", "", "Japan;Asia;*", "France;Europe;*"]
    text = bom + end.join(rows).replace(";", separator).encode()
    assert code(from_text(tmp_path, text), ["Japan"]).labels == EXPECTED


def test_quotes_and_separators_inside_labels(tmp_path):
    recipe = from_text(tmp_path, 'a;"[20, 25)";"say ""hi"""\nb;"x;y";"say ""hi"""\n')
    assert code(recipe, ["a"]).labels[1:] == (("[20, 25)", "x;y"), ('say "hi"',))


def test_commas_in_every_label_do_not_fool_the_guess(tmp_path):
    recipe = from_text(tmp_path, "1;[0, 5);*\n6;[5, 10);*\n7;[5, 10)\n")
    with pytest.raises(HierarchyError, match="line 3 has 2 labels, not 3"):
        code(recipe, [1], Kind.NUMERIC)


def test_a_delimiter_of_the_users_choice(tmp_path):
    assert code(from_text(tmp_path, "a|x,y|*\nb|x,y|*\n", delimiter="|"), ["a"]).labels[1] == ("x,y",)


def test_the_domain_is_every_row():
    coded = code(Taxonomy(rows=(("a", "x"), ("b", "x"), ("c", "y"))), ["b"])
    assert coded.size == 3
    assert coded.leaves(1).tolist() == [2, 1]


def test_duplicate_rows_count_once():
    assert code(Taxonomy(rows=(("a", "x"), ("a", "x"), ("b", "y"))), ["a"]).size == 2


def test_two_rows_that_give_a_value_different_parents():
    with pytest.raises(HierarchyError, match="1 of the labels at level 0 are below more than one label of level 1"):
        code(Taxonomy(rows=(("a", "x"), ("a", "y"))), ["a"])


def test_inner_labels_with_two_parents():
    with pytest.raises(HierarchyError, match="labels at level 1 are below") as caught:
        code(Taxonomy(tree={"A": {"North": ["x"]}, "B": {"North": ["y"]}}), ["x"])
    assert caught.value.code == "not-nested"


def test_uncovered_values_are_counted_not_shown():
    with pytest.raises(HierarchyError, match=r"'place' does not cover 2 of its values \(7 records\)") as caught:
        code(Taxonomy(rows=(("a", "x"),)), ["a", "hidden", "buried"], counts=[1, 3, 4])
    assert caught.value.code == "uncovered"
    assert "hidden" not in str(caught.value)
    assert "Add them to the hierarchy" in caught.value.hint


def test_a_root_is_added_only_where_it_lacks():
    assert code(Taxonomy(rows=(("a", "all"), ("b", "all"))), ["a"]).labels == (("a", "b"), ("all",))
    assert code(Taxonomy(rows=(("a",), ("b",))), ["a"]).labels == (("a", "b"), ("*",))
    assert code(Taxonomy(rows=(("a",),)), ["a"]).labels == (("a",), ("*",))


def test_missing_joins_in_the_root_of_the_file():
    coded = code(Taxonomy(rows=(("a", "x", "*"), ("b", "y", "*"))), ["a"], missing=True)
    assert coded.labels == ((None, "a", "b"), (None, "x", "y"), ("*",))
    assert [level.tolist() for level in coded.levels] == [[0, 1, 2], [0, 1, 2], [0, 0, 0]]


def test_an_all_missing_column_still_has_the_domain_of_the_file():
    for arrow in (pa.string(), pa.null()):
        assert code(Taxonomy(rows=(("a", "x"), ("b", "x"))), [], arrow=arrow, missing=True).size == 3


def test_numbers_in_numeric_order_with_spaces_and_leading_zeros():
    recipe = Taxonomy(rows=((" 10 ", "x"), ("9", "y"), ("007", "x"), ("-3.0", "y"), ("1e2", "x")))
    coded = code(recipe, [9, 10], Kind.NUMERIC)
    assert coded.values.to_pylist() == [-3, 7, 9, 10, 100]
    assert coded.labels[0] == ("-3", "7", "9", "10", "100")
    assert coded.labels[1] == ("y", "x")


def test_integers_beyond_floats_are_exact():
    big = 2**53 + 1
    rows = tuple((str(n), "x") for n in (big, big - 1, 2**63 - 1))
    assert code(Taxonomy(rows=rows), [big], Kind.NUMERIC).values.to_pylist() == [big - 1, big, 2**63 - 1]


@pytest.mark.parametrize("bad", ["?", "1.5", "1_000", "9223372036854775808", "nan", "1e999999999", "٣"])
def test_labels_that_are_no_whole_numbers_are_placed(tmp_path, bad):
    recipe = from_text(tmp_path, f"1;x\n\n{bad};x\n")
    with pytest.raises(HierarchyError, match=r"must be whole numbers; 1 is not \(the first in line 3\)"):
        code(recipe, [1], Kind.NUMERIC, pa.int64())


@pytest.mark.parametrize("bad", ["?", "inf", "1e999"])
def test_labels_that_are_no_numbers(bad):
    with pytest.raises(HierarchyError, match=r"must be numbers; \d+ (is|are) not \(the first in row 1\)"):
        code(Taxonomy(rows=((bad, "x"),)), [1.5], Kind.NUMERIC)


def test_floats_and_dates():
    rows = (("2.5", "x"), ("1", "x"))
    assert code(Taxonomy(rows=rows), [2.5], Kind.NUMERIC).values.to_pylist() == [1.0, 2.5]
    day = datetime.date(1899, 12, 31)
    coded = code(Taxonomy(rows=(("2000-01-01", "new"), (" 1899-12-31", "old"))), [day], Kind.DATE)
    assert coded.labels[1] == ("old", "new")
    with pytest.raises(HierarchyError, match="must be dates like"):
        code(Taxonomy(rows=(("31.12.1899", "old"),)), [day], Kind.DATE)


def test_ordinal_values_keep_the_declared_order_and_the_others_their_place():
    rows = (("none", "w"), ("low", "w"), ("lower", "w"), ("mid", "v"), ("high", "v"))
    coded = code(Taxonomy(rows=rows), ["low", "high"], Kind.ORDINAL)
    assert coded.values.to_pylist() == ["none", "low", "lower", "mid", "high"]
    coded = code(Taxonomy(rows=rows), ["high", "low"], Kind.ORDINAL)
    assert coded.values.to_pylist() == ["none", "high", "low", "lower", "mid"]


def test_non_latin_labels(tmp_path):
    recipe = from_text(tmp_path, "東京;日本;*\nМосква;Россия;*\n京都;日本;*\n")
    assert code(recipe, ["京都"]).labels == (("Москва", "京都", "東京"), ("Россия", "日本"), ("*",))


def test_unusual_line_separators_inside_a_label_do_not_break_it(tmp_path):
    assert code(from_text(tmp_path, "a\u2028b;x\x0cy;*\nc;z;*\n"), ["a\u2028b"]).size == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("\n  \n", "is empty"),
        ("a;x;*\nb;x\n", "line 2 has 2 labels, not 3"),
        ("a;x;*\n;y;*\n", "empty label in line 2"),
        ("a;;*\n", "empty label in line 1"),
        ('a;x\nb;"y\n', "broken quotation at line 2"),
        (b"a;\xff\n", "not UTF-8"),
    ],
)
def test_unusable_files(tmp_path, text, message):
    with pytest.raises(HierarchyError, match=message) as caught:
        code(from_text(tmp_path, text), ["a"])
    assert "'place'" in str(caught.value)
    assert caught.value.hint


def test_a_file_that_is_not_there(tmp_path):
    for path in (tmp_path / "none.csv", tmp_path):
        with pytest.raises(HierarchyError, match="cannot be read"):
            code(Taxonomy(file=str(path)), ["a"])


def test_trees_of_any_form_and_depth():
    tree = {
        "Europe": {"Iberia": ["Spain", "Portugal"], "France": None},
        "Asia": ["Japan", {"Korea": "Seoul"}],
        "Mars": None,
    }
    coded = code(Taxonomy(tree=tree), ["Seoul", "Mars"])
    assert coded.labels == (
        ("Japan", "Seoul", "France", "Portugal", "Spain", "Mars"),
        ("Japan", "Korea", "France", "Iberia", "Mars"),
        ("Asia", "Europe", "Mars"),
        ("*",),
    )


def test_a_tree_with_one_top_has_its_own_root_and_a_list_is_flat():
    assert code(Taxonomy(tree={"World": ["a", "b"]}), ["a"]).labels == (("a", "b"), ("World",))
    assert code(Taxonomy(tree=["b", "a"]), ["a"]).labels == (("a", "b"), ("*",))


def test_yaml_files(tmp_path):
    recipe = from_text(tmp_path, "Europe: [France, Spain]\nAsia: [Japan]\n", "h.yaml")
    assert code(recipe, ["Japan"]).labels == EXPECTED
    ages = from_text(tmp_path, "young: [1, 2]\nold: [80]\n", "ages.yml")
    assert code(ages, [2], Kind.NUMERIC).labels[1] == ("young", "old")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Scandinavia: [No]\n", "a bool"),
        ("a: [null]\n", "A label is a null"),
        ("a: [b\n", r"not valid YAML \(line"),
        ("&x [*x]\n", "expand too far"),
        ("a: &x {b: *x}\n", "expand too far"),
        ("[&a [1], " + ", ".join(f"&{b} [*{a}, *{a}]" for a, b in pairwise("abcdefghijklmnopqrst")) + "]", "too far"),
        ("", "A label is a null"),
        ("{}", "is empty"),
    ],
)
def test_unusable_trees(tmp_path, text, message):
    with pytest.raises(HierarchyError, match=message):
        code(from_text(tmp_path, text, "h.yaml"), ["a"])


@pytest.mark.parametrize(
    "params", [{}, {"file": "a.csv", "tree": {}}, {"tree": {}, "delimiter": ";"}, {"file": "a.csv", "delimiter": "::"}]
)
def test_bad_parameters(params):
    with pytest.raises(ParameterError, match="Taxonomy"):
        Taxonomy(**params)


@pytest.mark.parametrize("missing", [False, True])
def test_what_is_written_reads_back_the_same(tmp_path, missing):
    values = ["a;b", 'say "hi"', "x\ny", "日本", "=1+1", "d", "e", "f"]
    coded = code(Frequency(fanout=2), values, missing=missing)
    write_csv(coded, tmp_path / "out.csv")
    again = code(Taxonomy(file=str(tmp_path / "out.csv")), values, missing=missing)
    assert again.labels == coded.labels
    assert again.values.equals(coded.values)
    assert all(np.array_equal(a, b) for a, b in zip(again.levels, coded.levels, strict=True))


def test_a_folder_that_is_not_there_is_an_output_error(tmp_path):
    coded = code(Taxonomy(tree=["a"]), ["a"])
    with pytest.raises(OutputError, match=r"out.csv' cannot be written: its folder does not exist"):
        write_csv(coded, tmp_path / "none" / "out.csv")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OutputError):
        write_csv(coded, tmp_path / "folder")
    assert [p.name for p in tmp_path.iterdir()] == ["folder"]


def adult(name):
    places = [os.environ.get("HUSHTABLE_DATA"), Path(__file__).parents[2].parent / "shared" / "data"]
    for place in places:
        path = Path(place) / "adult" / f"hierarchy-{name}.csv" if place else None
        if path and path.is_file():
            return Taxonomy(file=str(path))
    pytest.skip("Adult's hierarchies are not here: set HUSHTABLE_DATA to the folder that holds adult/")


@pytest.mark.parametrize(
    ("name", "size", "height"),
    [
        ("education", 16, 3),
        ("marital-status", 7, 2),
        ("native-country", 41, 2),
        ("occupation", 14, 2),
        ("race", 5, 1),
        ("salary-class", 2, 1),
        ("sex", 2, 1),
        ("workclass", 8, 2),
    ],
)
def test_adult_hierarchies(name, size, height):
    coded = code(adult(name), [], arrow=pa.string())
    assert (coded.size, coded.height, coded.labels[-1]) == (size, height, ("*",))
    assert coded.contiguous


def test_adult_ages():
    coded = code(adult("age"), [17, 90], Kind.NUMERIC)
    assert (coded.size, coded.height) == (100, 4)
    assert coded.values.to_pylist() == list(range(1, 101))
    assert coded.contiguous
    # as the file has them, an age is one above the interval's own numbers
    assert coded.labels[1][coded.levels[1][16]] == "15-19"


def test_leaves_of_anchors_that_are_used_again_and_again_are_counted(monkeypatch):
    monkeypatch.setattr(taxonomy, "MAX_NODES", 1000)
    leaves = {f"x{n}": None for n in range(600)}
    with pytest.raises(HierarchyError, match="more than 1,000 nodes"):
        code(Taxonomy(tree={"a": leaves, "b": leaves}), ["x1"])
