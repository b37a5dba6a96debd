"""A device is asked for by name; what is not there is said, and nothing is found differently."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest

import hushtable as ht
from hushtable.errors import UsageError
from hushtable.kernels import device, gpu
from hushtable.kernels.device import passes_for, use
from hushtable.kernels.passes import Shadow, plain_search
from hushtable.kernels.tiles import DeviceLost, NumpyDevice, Tiles, Visitor

POINTS = np.random.default_rng(0).normal(size=(40, 3))


@pytest.fixture
def twin(monkeypatch):
    """A machine with a card, whose work NumPy does."""

    class Card(NumpyDevice):
        @staticmethod
        def needed_bytes(n: int, d: int) -> int:
            return 24 * n * d

    monkeypatch.setattr(gpu, "card_problem", lambda: None)
    monkeypatch.setattr(gpu, "Card", Card)
    monkeypatch.setattr(gpu, "free_bytes", lambda: 1 << 30)
    return Card


def test_the_processor_by_default_and_on_request(twin, monkeypatch):
    assert isinstance(passes_for(POINTS), Shadow)  # a card would not pay
    monkeypatch.setattr(device, "PAYS_FROM", 0.0)
    with use("cpu"):
        assert isinstance(passes_for(POINTS), Shadow)
    monkeypatch.setenv(device.DEVICE, "cpu")
    assert isinstance(passes_for(POINTS), Shadow)


def test_a_card_where_there_is_one_and_it_pays(twin, monkeypatch):
    monkeypatch.setattr(device, "PAYS_FROM", 0.0)
    monkeypatch.setattr(device.importlib.util, "find_spec", lambda name: object())
    assert isinstance(passes_for(POINTS), Tiles)
    monkeypatch.setattr(gpu, "card_problem", lambda: ("There is none.", "Buy one."))
    assert isinstance(passes_for(POINTS), Shadow)


def test_a_card_on_request(twin, monkeypatch):
    with use("gpu"):
        assert isinstance(passes_for(POINTS), Tiles)
    monkeypatch.setenv(device.DEVICE, "gpu")
    assert isinstance(passes_for(POINTS), Tiles)


def test_a_table_larger_than_the_card_is_worked_in_parts(twin, monkeypatch, caplog):
    monkeypatch.setattr(gpu, "free_bytes", lambda: 1200)
    with use("gpu"):
        left = passes_for(POINTS)
    assert isinstance(left, Tiles) and all(isinstance(part, Visitor) for part in left._devices)
    assert len(left._devices) == 3
    assert "it is processed in 3 parts" in caplog.text
    left._few = 0
    expected = plain_search(POINTS, np.ones(40, dtype=bool), np.arange(5), 4, 2)
    assert all(np.array_equal(a, b) for a, b in zip(expected, left.search(np.arange(5), 4, 2), strict=True))


def test_a_card_without_memory_is_left_alone(twin, monkeypatch, caplog):
    def full(self, *arguments):
        raise DeviceLost("The card has too little free memory; others may be using it.")

    monkeypatch.setattr(twin, "load", full)
    with use("gpu"):
        assert isinstance(passes_for(POINTS), Shadow)
    assert caplog.messages[-1].endswith("others may be using it. The processor does the work.")
    monkeypatch.setattr(gpu, "free_bytes", lambda: 0)
    with use("gpu"):
        assert isinstance(passes_for(POINTS), Shadow)


def test_unknown_devices_are_refused(monkeypatch):
    with pytest.raises(UsageError, match="There is no device 'tpu'"), use("tpu"):
        pass
    monkeypatch.setenv(device.DEVICE, "tpu")
    with pytest.raises(UsageError, match="HUSHTABLE_DEVICE must be one of auto, cpu, gpu"):
        passes_for(POINTS)


class FakeError(Exception):
    """Stands for CuPy's error of the CUDA runtime."""


def fake_cupy(count, compile_error=None):
    def devices():
        if isinstance(count, str):
            raise FakeError(count)
        return count

    def module(**settings):
        raise compile_error

    runtime = SimpleNamespace(getDeviceCount=devices, CUDARuntimeError=FakeError)
    return SimpleNamespace(cuda=SimpleNamespace(runtime=runtime), RawModule=module)


@pytest.mark.parametrize(
    ("cupy", "sentence"),
    [
        (None, "CuPy is not installed."),
        (fake_cupy(0), "This machine has no NVIDIA card."),
        (fake_cupy("cudaErrorNoDevice"), "This machine has no NVIDIA card that CuPy can use."),
        (fake_cupy("cudaErrorInsufficientDriver"), "The driver of the NVIDIA card is older than CuPy needs."),
        (fake_cupy("cudaErrorDevicesUnavailable"), "Another program has exclusive use of the NVIDIA card."),
        (fake_cupy(1, RuntimeError("no nvrtc")), "CuPy could not compile for the card (RuntimeError)."),
    ],
)
def test_why_there_is_no_card_is_said(cupy, sentence, monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    gpu.card_problem.cache_clear()
    gpu._kernels.cache_clear()
    try:
        with pytest.raises(UsageError) as caught, use("gpu"):
            pass
        assert caught.value.message == f"'device: gpu' cannot be used: {sentence}" and caught.value.hint
    finally:
        gpu.card_problem.cache_clear()
        gpu._kernels.cache_clear()


def test_a_policy_names_the_device_and_the_release_does_not_depend_on_it(twin, monkeypatch):
    import pyarrow as pa

    from hushtable.kernels import compile as kernels
    from hushtable.kernels import tiles

    draw = np.random.default_rng(3)
    table = pa.table({name: draw.normal(size=1500) for name in "abcdef"})
    monkeypatch.setattr(kernels, "COMPILE_FROM", 100)
    monkeypatch.setattr(tiles, "TILE", 16)
    asked = []
    plain = twin.answer
    monkeypatch.setattr(twin, "answer", lambda self, questions: asked.append(1) or plain(self, questions))

    def made(device):
        policy = ht.Policy(quasi=table.column_names, models=[ht.KAnonymity(k=4)], algorithm="mdav", **device)
        return policy, ht.anonymize(table, policy)

    plain_policy, on_processor = made({})
    policy, on_card = made({"engine": {"device": "gpu"}})
    assert asked
    assert policy.to_yaml().endswith("engine:\n  device: gpu\n") and "engine" not in plain_policy.to_yaml()
    assert ht.Policy.from_yaml(policy.to_yaml()) == policy
    assert on_card.table.equals(on_processor.table)


def test_a_policy_with_an_unknown_device_is_refused():
    with pytest.raises(ht.errors.PolicyError, match=r"engine.device"):
        ht.Policy(quasi=["a"], models=[ht.KAnonymity(k=2)], engine={"device": "tpu"})


@pytest.mark.skipif(gpu.card_problem() is not None, reason="needs an NVIDIA card and CuPy")
def test_the_card_itself():  # pragma: no cover - run where there is a card; docs/gpu.md has the record
    draw = np.random.default_rng(5)
    for n, d in ((600, 1), (5000, 40), (3000, 90)):
        points = draw.normal(size=(n, d))
        left, alive = Tiles(points, [gpu.Card()], few=0), np.ones(n, dtype=bool)
        for _ in range(3):
            rows = draw.integers(0, n, 37)
            found, expected = left.search(rows, 9, 4), plain_search(points, alive, rows, 9, 4)
            assert all(np.array_equal(a, b) for a, b in zip(expected, found, strict=True))
            left.remove(found.near[0])
            alive[found.near[0]] = False
