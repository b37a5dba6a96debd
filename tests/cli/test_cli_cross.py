from __future__ import annotations


def test_a_small_table(call, adult, tmp_path):
    answer = call("cross", "--rows", 100, "--models", "k-anonymity", "--algorithms", "mondrian,datafly", "--json")
    assert answer.code == 0
    assert {cell["outcome"] for cell in answer.data["cells"]} == {"released"}
    assert "2 of 2 cells" in (tmp_path / "cross" / "cross.html").read_text(encoding="utf-8")
    assert (tmp_path / "cross" / "cross.json").is_file()
    words = call("cross", "--rows", 100, "--models", "k-anonymity", "--algorithms", "datafly", "--output", "two").words
    assert "datafly" in words and "cross.html" in words


def test_unknown_names(call):
    answer = call("cross", "--models", "k-anonimity")
    assert answer.code == 2 and "Did you mean 'k-anonymity'?" in answer.words
