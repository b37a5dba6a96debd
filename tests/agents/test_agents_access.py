from __future__ import annotations

import pytest

from hushtable.agents.access import AllowedFolders
from hushtable.errors import UsageError


@pytest.fixture
def access(tmp_path):
    for name in ("read", "write", "elsewhere", "readable"):
        (tmp_path / name).mkdir()
    (tmp_path / "read" / "a.csv").write_text("a")
    (tmp_path / "readable" / "a.csv").write_text("a")
    (tmp_path / "elsewhere" / "b.csv").write_text("b")
    (tmp_path / "read" / "link.csv").symlink_to(tmp_path / "elsewhere" / "b.csv")
    (tmp_path / "read" / "inner.csv").symlink_to(tmp_path / "read" / "a.csv")
    (tmp_path / "read" / "way").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "read" / "loop").symlink_to(tmp_path / "read" / "loop")
    (tmp_path / "write" / "way").symlink_to(tmp_path / "elsewhere")
    return AllowedFolders.of([str(tmp_path / "read")], str(tmp_path / "write"))


def code(call, *arguments):
    with pytest.raises(UsageError) as refused:
        call(*arguments)
    return refused.value.code


def test_files_are_found_below_the_folders_only(access, tmp_path):
    assert access.file("a.csv") == access.file(str(tmp_path / "read" / "a.csv")) == access.file("inner.csv")
    near = str(tmp_path / "readable" / "a.csv")
    for given in ("link.csv", "way/b.csv", "../elsewhere/b.csv", "/etc/passwd", "..", near):
        assert code(access.file, given) in ("outside", "not-a-file"), given
    for given in ("nothing.csv", "", ".", "loop", "a.csv/x"):
        assert code(access.file, given) in ("not-a-file", "outside")
    # whether a file elsewhere exists makes no difference
    assert code(access.file, "../elsewhere/b.csv") == code(access.file, "../elsewhere/none.csv")
    assert code(access.file, "a\0b") == "outside"


def test_writing_is_below_one_folder_and_onto_nothing(access, tmp_path):
    assert access.target("new.yaml") == tmp_path / "write" / "new.yaml"
    for given in ("../read/x", "way/x", "/tmp/x", ".", "", str(tmp_path / "read" / "x")):
        assert code(access.target, given) == "outside"
    (tmp_path / "write" / "there").write_text("")
    assert code(access.target, "there") == "exists" and code(access.target, "no/x") == "exists"
    assert code(AllowedFolders((tmp_path,)).target, "x") == "read-only"
    assert code(AllowedFolders.of, [str(tmp_path / "nowhere")]) == "not-a-folder"


@pytest.mark.parametrize(
    "document",
    [
        {"population": "/etc/passwd"}, {"population": "../elsewhere/b.csv"}, {"background": {"file": "way/b.csv"}},
        {"columns": {"a": {"hierarchy": "link.csv"}}}, {"columns": {"a": {"same_as": {"column": "b", "map": "/x"}}}},
        {"population": "sqlite:///a.db?table=t"}, {"ledger": {"file": "releases.ledger"}}, {"guard": ["../x"]},
        {"columns": {"order": {"hierarchy": "/x"}}}, {"columns": {"categories": {"hierarchy": {"file": "/x"}}}},
        {"columns": {"missing_values": {"treatment": {"pseudonym": {"key": "/x"}}}}},
    ],
)  # fmt: skip
def test_policies_that_lead_out_are_refused(access, tmp_path, document):
    assert code(access.check_policy, document, tmp_path / "read") == "outside"


def test_policies_that_stay_inside_are_not(access, tmp_path):
    values = {"columns": {"a": {"role": "quasi", "hierarchy": "a.csv", "order": ["/", ".."]}}, "missing_values": ["/"]}
    access.check_policy(values, tmp_path / "read")
    access.check_policy({"ledger": {"file": "releases.ledger", "new": True}}, tmp_path / "write")
