"""The contract suite for models, algorithms, forms, guards, treatments and engines; included for plug-ins.

``check_model(MyModel)``, ``check_algorithm(MyAlgorithm)``, ``check_form(MyForm)``, ``check_guard(MyGuard)`` and
``check_treatment(MyTreatment)`` check everything that hushtable promises about them on random tables, and raise
``AssertionError`` with a sentence if a promise is broken. ``check_known_algorithm(my_algorithm)`` attacks its releases
as an adversary who knows its code, and ``check_interference`` changes what must not matter, to see whether it shows in
a public file. The individual checks, the random tables and the slow recount are here as well.
"""

from __future__ import annotations

from hushtable.testing.brute import satisfiable, set_partitions
from hushtable.testing.cases import Case, random_case, random_table
from hushtable.testing.examples import model_examples
from hushtable.testing.form_checks import check_cells, check_form
from hushtable.testing.guard_checks import check_guard, check_guarded
from hushtable.testing.interference_checks import check_interference, with_hierarchies
from hushtable.testing.known_checks import check_known_algorithm
from hushtable.testing.model_checks import check_all_of, check_declaration, check_monotone, check_root, check_score
from hushtable.testing.naive import recheck
from hushtable.testing.release_checks import Answer, check_infeasible, check_missing, check_release
from hushtable.testing.repeat_checks import (
    check_frames,
    check_kernels,
    check_orders,
    check_same_bytes,
    check_saved,
    forced_kernels,
)
from hushtable.testing.store_checks import check_store
from hushtable.testing.suite import cases, check_algorithm, check_model, check_pair, tiny_cases
from hushtable.testing.treatment_checks import check_treatment

__all__ = [
    "Answer",
    "Case",
    "cases",
    "check_algorithm",
    "check_all_of",
    "check_cells",
    "check_declaration",
    "check_form",
    "check_frames",
    "check_guard",
    "check_guarded",
    "check_infeasible",
    "check_interference",
    "check_kernels",
    "check_known_algorithm",
    "check_missing",
    "check_model",
    "check_monotone",
    "check_orders",
    "check_pair",
    "check_release",
    "check_root",
    "check_same_bytes",
    "check_saved",
    "check_score",
    "check_store",
    "check_treatment",
    "forced_kernels",
    "model_examples",
    "random_case",
    "random_table",
    "recheck",
    "satisfiable",
    "set_partitions",
    "tiny_cases",
    "with_hierarchies",
]
