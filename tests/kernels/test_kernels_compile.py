"""Kernels that are not compiled yet: the twin serves, another process compiles, the cache serves from then on."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from hushtable.kernels import background, compile, grouping

SCRIPT = """
import sys, time
import numpy as np
from hushtable.kernels import compile, grouping
from hushtable.kernels.compile import compiled

key = np.arange(20_000) % 500 * 10**9
def numbered():
    labels, first = np.empty(len(key), dtype=np.int64), np.empty(2501, dtype=np.int64)
    kernel = compile.dispatch(grouping._number_loops, grouping._number_numpy, len(key))
    found = kernel(key, labels, first)
    return found, labels.tobytes(), first[:found].tobytes()

once = numbered()
served = "twin" if grouping._number_loops in compile._spent else "kernel"
until = time.monotonic() + 60
while not compiled(grouping._number_loops).signatures and time.monotonic() < until:
    time.sleep(0.1)
    assert numbered() == once
kernel = compiled(grouping._number_loops)
print(served, len(kernel.signatures), sum(kernel.stats.cache_hits.values()), "numba" in sys.modules)
"""


def run(script: str, cache: Path, **more: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "NUMBA_CACHE_DIR": str(cache), **more}
    command = [sys.executable, "-W", "error", "-c", script]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=True)


def test_the_twin_serves_until_the_kernel_is_in_the_cache_which_serves_from_then_on(tmp_path):
    first = run(SCRIPT, tmp_path)
    assert first.stdout.split() == ["twin", "1", "1", "True"]
    assert first.stderr == ""  # nobody waited, so nothing is said
    assert run(SCRIPT, tmp_path).stdout.split() == ["kernel", "1", "1", "True"]


def test_kernels_that_were_compiled_before_are_taken_over(tmp_path):
    """As in a container, whose image has them where nothing can be written."""
    image, cache = tmp_path / "image", tmp_path / "cache"
    run(SCRIPT, image)
    done = run(SCRIPT, cache, HUSHTABLE_KERNELS=str(image))
    assert done.stdout.split() == ["kernel", "1", "1", "True"]
    files = {file.relative_to(image): file.read_bytes() for file in image.rglob("*") if file.is_file()}
    assert files == {file.relative_to(cache): file.read_bytes() for file in cache.rglob("*") if file.is_file()}
    assert {path.name for path in tmp_path.iterdir()} == {"image", "cache"}
    # what is not there is compiled
    assert run(SCRIPT, tmp_path / "other", HUSHTABLE_KERNELS="/nowhere").stdout.split()[0] == "twin"


def test_a_large_table_waits_for_the_compiler_and_is_told_so(tmp_path):
    done = run(SCRIPT.replace("key =", "compile.TWIN_UP_TO = 0\nkey ="), tmp_path)
    assert done.stdout.split() == ["kernel", "1", "0", "True"]
    assert done.stderr == "Compiling kernels for this machine; this happens once.\n"


def test_without_another_process_the_kernel_is_compiled_at_once(tmp_path):
    done = run("import sys; sys.executable = '/nowhere/python'" + SCRIPT, tmp_path)
    assert done.stdout.split() == ["kernel", "1", "0", "True"]


def test_without_a_folder_for_the_cache_kernels_are_compiled_all_the_same(tmp_path):
    script = "from numba.core import caching; caching.CacheImpl._locator_classes = []\n" + SCRIPT
    assert run(script, tmp_path).stdout.split()[:2] == ["kernel", "1"]


def test_a_twin_that_has_taken_its_time_is_not_asked_again(monkeypatch):
    kernel = pytest.importorskip("numba").njit(lambda x: x)
    monkeypatch.setitem(compile._spent, _own, compile.TWIN_SECONDS)
    kernel._compiler.compile = lambda types, returns: "compiled"
    monkeypatch.setattr(compile._caller, "has_twin", True)
    assert compile._missed(_own, kernel._compiler.compile, (), None) == "compiled"


def test_kernels_that_another_one_calls_are_compiled_with_it(monkeypatch):
    """Where the twin of a kernel has taken its time, its callees must not be put off in the middle of compiling it."""
    monkeypatch.setattr(compile._caller, "has_twin", True)
    monkeypatch.setitem(compile._spent, _own, compile.TWIN_SECONDS)

    def compile_caller(types, returns):
        return compile._missed(grouping.stable_order, lambda types, returns: "with it", types, returns)

    assert compile._missed(_own, compile_caller, (), None) == "with it"


def test_functions_that_have_no_name_elsewhere_are_not_asked_for():
    assert not background.is_underway(lambda: None, ())


def _own(x):
    return x


def test_threads_get_one_kernel(monkeypatch):
    monkeypatch.setattr(compile, "_kernels", {})
    made = []
    threads = [threading.Thread(target=lambda: made.append(compile.compiled(_own))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 8 and len(set(map(id, made))) == 1


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 8, 49, 1000])
def test_sorting_is_numpys(n):
    keys = np.random.default_rng(n).integers(0, n // 2 + 1, n)
    for order in (grouping.stable_order, compile.compiled(grouping.stable_order)):
        assert order(keys).tolist() == np.argsort(keys, kind="stable").tolist()
    for sort in (grouping.sort_between, compile.compiled(grouping.sort_between)):
        own = keys.copy()
        sort(own, n // 3, n)
        assert own.tolist() == [*keys[: n // 3].tolist(), *np.sort(keys[n // 3 :]).tolist()]


def test_kernels_leave_linear_algebra_to_those_who_need_it(tmp_path):
    """Loading them does not import it, and a kernel of somebody else in the same process still multiplies matrices."""
    product = """
before = "scipy.linalg" in sys.modules
import numba
print(before, numba.njit(lambda a, b: np.dot(a, b))(2 * np.eye(2), np.ones(2)).tolist())
"""
    assert run(SCRIPT + product, tmp_path).stdout.splitlines()[-1] == "False [2.0, 2.0]"


def test_only_the_thread_that_loads_kernels_is_without_linear_algebra():
    importer = compile._WithoutLinearAlgebra()
    with pytest.raises(ModuleNotFoundError):
        importer.find_spec("scipy.linalg")
    assert importer.find_spec("scipy.stats") is None
    found = []
    thread = threading.Thread(target=lambda: found.append(importer.find_spec("scipy.linalg")))
    thread.start()
    thread.join()
    assert found == [None]


def test_a_kernel_that_is_asked_for_often_serves_small_tables_too(monkeypatch):
    def twin(x):
        return "twin"

    monkeypatch.setattr(compile, "_asked", {})
    monkeypatch.setattr(compile, "compiled", lambda loops: lambda x: "kernel")
    chosen = [compile.dispatch(_own, twin, 5)(0) for _ in range(compile.OFTEN + 2)]
    assert chosen == ["twin"] * compile.OFTEN + ["kernel"] * 2
    assert compile.dispatch(twin, twin, 5)(0) == "twin"  # each counts for itself
