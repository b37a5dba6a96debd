"""Running Mondrian, or another algorithm of a plan, on a table."""

from __future__ import annotations

import pyarrow as pa

from hushtable.engines import local

__all__ = ["run"]


def run(table: pa.Table, plan):
    problem = local.problem_of(table, plan)
    local.check_feasible(problem)
    return problem, plan.algorithm.run(problem)
