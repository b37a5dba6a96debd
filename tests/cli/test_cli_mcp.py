from __future__ import annotations

import importlib.util


def test_folders_must_be_there(call, tmp_path):
    assert "is not a folder" in call("mcp", tmp_path / "nowhere").err
    assert call("mcp").code == 2
    assert call("mcp", tmp_path, "--floor", "1").code == 2


def test_the_package_is_named_where_it_is_missing(call, tmp_path, monkeypatch):
    real = importlib.util.find_spec

    def without(name, *more):
        return None if name == "mcp_types" else real(name, *more)

    monkeypatch.setattr(importlib.util, "find_spec", without)
    assert "pip install 'hushtable[mcp]'" in call("mcp", tmp_path).err
