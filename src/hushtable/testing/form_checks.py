"""The contract of every published form: cells cover their class, and their text can be read back."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np

from hushtable import rng
from hushtable.arrays import BoolArray
from hushtable.kernels.grouping import group_rows
from hushtable.registry import forms
from hushtable.release.forms.base import Cells, Form
from hushtable.table.encode import encode
from hushtable.testing.cases import random_case
from hushtable.testing.covers import covered
from hushtable.testing.require import require


def check_form(form: Form | type[Form], *, tables: int = 6, seed: int = 0) -> int:
    """Check the contract of a form, on random tables with columns of every kind.

    Parameters
    ----------
    form : class or instance
        A class is built with its default parameters.
    tables : int
        Number of random tables.
    seed : int

    Returns
    -------
    int
        Number of cells that were checked.

    Raises
    ------
    AssertionError
        With a sentence about the broken promise.

    Examples
    --------
    >>> from hushtable.release.forms.sets import Sets
    >>> check_form(Sets, tables=1) > 0
    True
    """
    made = form() if isinstance(form, type) else form
    require(forms.get(made.name) is type(made), f"{type(made).__name__} is not registered as {made.name!r}")
    require(made.in_words, "a form says in words what it publishes")
    done = 0
    for i in range(tables):
        case = random_case(seed + i, 30, cells=made)
        table = encode(case.table, case.columns)
        groups = 1 + (seed + i) % 9
        labels = rng.integers(seed + i, "groups", table.n_sample, 0, groups)
        if i % 2:  # classes that one cut separates, and the missing value separated from all others
            labels = (table.quasi[i % len(table.quasi)].codes[: table.n_sample] > 0).astype(np.int64)
        if made.follows == "bucket":  # exact values: a class has one
            labels = np.arange(table.n_sample)
        _, labels = np.unique(labels, return_inverse=True)
        rows, offsets = group_rows(labels.astype(np.int64), int(labels.max()) + 1)
        own = [made.for_kind(column.coded.kind) for column in table.quasi]
        cells = tuple(f.from_records(c, rows, offsets) for f, c in zip(own, table.quasi, strict=True))
        for each in dict.fromkeys(own):
            cells = each.settled(cells)
        for of_column in cells:
            check_cells(of_column, seed + i)
            done += len(of_column)
    return done


def check_cells(cells: Cells, seed: int = 0) -> None:
    """Check that all descriptions of the cells of one column agree.

    Raises
    ------
    AssertionError
    """
    size, n = cells.column.coded.size, len(cells)
    every = np.arange(size)
    inside = np.array([cells.covers(np.full(size, g), every) for g in range(n)])
    owner = np.repeat(np.arange(n), cells.counts)
    require(inside[owner, cells.members].all(), "a cell does not cover its class")
    require(np.array_equal(inside.sum(axis=1), cells.leaves), "a cell covers more or fewer leaves than it says")
    low, high = cells.extent
    require(np.array_equal(inside.argmax(axis=1), low), "a cell states a wrong first leaf")
    require(np.array_equal(size - 1 - inside[:, ::-1].argmax(axis=1), high), "a cell states a wrong last leaf")
    require(cells.has_holes or (inside.sum(axis=1) == high - low + 1).all(), "a cell denies that it has holes")
    weights = rng.integers(seed, "weights", size, 0, 9)
    require(np.array_equal(cells.covered(weights), inside @ weights), "the leaves that a cell covers are counted wrong")
    for h, level in enumerate(cells.column.coded.levels):
        nodes = [set(level[row].tolist()) for row, height in zip(inside, cells.height, strict=True) if height == h]
        require(all(len(node) == 1 for node in nodes), "the lowest node above a cell does not cover it")
    _check_guesses(cells, inside, seed)
    _check_texts(cells, inside)
    for g in range(n):
        require(cells.said(g), "a cell does not describe itself")
    some = np.array([n - 1, 0])
    taken = cells.take(some)
    require(
        taken.labels() == cells.labels().take(some) or not cells.tells_bounds, "a subset of cells has different labels"
    )
    copied = pickle.loads(pickle.dumps(cells))  # noqa: S301 - our own bytes
    require(copied.labels() == cells.labels(), "cells change when they are pickled")


def _check_guesses(cells: Cells, inside: BoolArray, seed: int) -> None:
    groups = np.repeat(np.arange(len(cells)), 5)
    luck = rng.uniform(seed, "luck", len(groups))
    for guess in (
        cells.draw_leaves(groups, luck),
        cells.written_down(groups, np.tile(np.arange(5), len(cells)), luck, 0.0),
    ):
        require(inside[groups, guess].all(), "a leaf was drawn that the cell does not cover")


def _check_texts(cells: Cells, inside: BoolArray) -> None:
    """Read the published text with the slow reader, if it shows bounds."""
    texts = cells.labels().to_pylist()
    require(len(texts) == len(cells), "not every class has a cell")
    column = cells.column
    for text, row in zip(texts, inside, strict=True):
        found = covered(text, replace(column), nodes=cells.at_nodes) if cells.tells_bounds else None
        require(found is None or found == set(np.flatnonzero(row).tolist()), "a cell and its text differ")
