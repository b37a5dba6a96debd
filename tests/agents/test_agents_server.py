"""The server as a client meets it: over stdio, with the official SDK on both sides."""

from __future__ import annotations

import json
import os
import sys
import time

import anyio
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from support_agents import CANARY, fill

from hushtable.agents.access import AllowedFolders
from hushtable.agents.server import make_server
from hushtable.agents.tools import TOOLS


@pytest.fixture
def folder(tmp_path):
    fill(tmp_path)
    return tmp_path


async def whole_release(client, folder):
    """Take a table to a release that was verified; return all replies."""
    texts = []

    async def call(name, **arguments):
        answer = await client.call_tool(name, arguments)
        texts.append(answer.content[0].text)
        return answer.is_error, json.loads(texts[-1])

    listed = (await client.list_tools()).tools
    assert [tool.name for tool in listed] == list(TOOLS)
    assert {tool.name for tool in listed if not tool.annotations.read_only_hint} == {"draft", "run"}
    roles = {"name": "identifier", "seen": "drop"}
    policy = {"data": "people.csv", "policy": "policy.yaml"}
    for name, arguments in (
        ("profile", {"data": "people.csv"}),
        ("draft", {**policy, "roles": roles, "models": [{"k-anonymity": {"k": 5}}]}),
        ("check", policy),
        ("run", {**policy, "release": "release"}),
        ("audit", {"data": "release/release.csv", "quasi": ["age", "town"], "sensitive": ["illness"]}),
        ("explain", {"release": "release", "data": "people.csv"}),
        ("compare", {**policy, "algorithms": ["mondrian", "datafly"]}),
    ):
        failed, reply = await call(name, **arguments)
        assert not failed, (name, reply)
    assert (await call("profile", data="../secret/people.csv"))[0]
    assert (await call("no such tool"))[1]["code"] == "unknown-tool"
    assert (folder / "out" / "release" / "release.csv").exists()
    assert (folder / "out" / "release.private").stat().st_mode & 0o077 == 0
    return texts


def test_a_client_makes_a_release_over_stdio(folder):
    began = time.perf_counter()
    arguments = ["-m", "hushtable", "mcp", str(folder / "data"), "--write", str(folder / "out")]
    server = StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ))

    async def main():
        async with Client(stdio_client(server)) as client:
            answer = await client.call_tool("profile", {"data": "people.csv"})
            assert not answer.is_error
            # far more than it takes: this says that nothing waits for a time limit
            assert time.perf_counter() - began < 60
            return await whole_release(client, folder)

    texts = anyio.run(main)
    assert not any(CANARY in text or str(folder) in text for text in texts)


def test_calls_are_answered_one_at_a_time(folder):
    async def main():
        answers = []
        server = make_server(AllowedFolders.of([str(folder / "data")], str(folder / "out")), 5)

        async def ask(client, name):
            answers.append(await client.call_tool("draft", {"data": "people.csv", "policy": name}))

        async with Client(server) as client, anyio.create_task_group() as group:
            for name in ("a.yaml", "a.yaml", "b.yaml"):
                group.start_soon(ask, client, name)
        return answers

    answers = anyio.run(main)
    assert sorted(answer.is_error for answer in answers) == [False, False, True], "one of the two finds the file there"
