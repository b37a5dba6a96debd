"""Bounding: all releases at once, and two at a time, until nothing changes (see ``hushtable.ledger.bounds``)."""

from __future__ import annotations

import itertools

import numpy as np

from hushtable.arrays import BoolArray, IntArray
from hushtable.kernels.grouping import number_rows
from hushtable.ledger.bounds import Board, added, expanded
from hushtable.ledger.game import Game

__all__ = ["bounded"]


def bounded(game: Game, alive: BoolArray, shut: BoolArray, units: IntArray) -> IntArray:
    """Bound how many of a kind have a value, and deal again, until nothing changes.

    A class that contradicts others, since a value has changed, is left out of this; what was found before stays.
    """
    closed, start = shut.copy(), alive
    while True:
        board = game.board(alive, closed)
        least, most, broken = board.bounded(alive)
        fewer = alive & (most > 0)
        if not len(broken):
            fewer = _by_pairs(game, fewer, closed)
        if not len(broken) and not np.array_equal(fewer, alive):
            alive, broken = game.settled(fewer, closed)
            if not len(broken):
                continue
        if not len(broken):
            break
        closed[broken] = True
        alive = start
    return board.counted(np.where(alive, units, 0), least, most)


def _by_pairs(game: Game, alive: BoolArray, closed: BoolArray) -> BoolArray:
    """Bound what people have who are together in two of several releases, though others tell them apart."""
    n = game.at.shape[1]
    for pair in itertools.combinations(range(n), 2) if n > 2 else ():
        shut = closed.copy()
        while True:
            board, entry, of_entry = _coarser(game, alive, shut, pair)
            _, most, broken = board.bounded(np.ones(len(board.truth), dtype=np.bool_))
            if not len(broken):
                break
            shut[broken] = True
        alive = alive.copy()
        alive[entry] = most[of_entry] > 0
    return alive


def _coarser(
    game: Game, alive: BoolArray, closed: BoolArray, pair: tuple[int, int]
) -> tuple[Board, IntArray, IntArray]:
    """Take kinds together that are in the same classes of two releases.

    Returns
    -------
    board, entry, of_entry
        The board; and the possible values that are on it, each with its place there.
    """
    at = game.at[:, pair]
    inside = np.flatnonzero((at >= 0).any(axis=1))
    fake = (inside >= game.people).astype(np.int64)
    sizes = [len(game.classes) + 1, len(game.classes) + 1, 2]
    label, first = number_rows([at[inside, 0] + 1, at[inside, 1] + 1, fake], sizes)
    group = np.full(len(game.possible), -1, dtype=np.int64)
    group[inside] = label
    steady, known = (np.bincount(label[~flag[inside]], minlength=len(first)) == 0 for flag in (game.steady, game.known))
    entry = np.flatnonzero(alive & (group[game.owner] >= 0))
    keys, of_entry = np.unique(group[game.owner[entry]] * game.span + game.possible.values[entry], return_inverse=True)
    offsets = np.searchsorted(keys // game.span, np.arange(len(first) + 1)).astype(np.int64)
    which, place = np.nonzero(at[inside[first]] >= 0)
    place = at[inside[first]][which, place]
    which, place = which[~closed[place]], place[~closed[place]]
    member, shown = expanded(offsets, which)
    cell = np.searchsorted(game.keys, place[member] * game.span + keys[shown] % game.span).astype(np.int64)
    order = np.argsort(cell, kind="stable")
    board = Board(
        offsets, added(label, game.size[inside], len(first)), steady,
        added(of_entry, game.truth[entry], len(keys)), known,
        shown[order], cell[order], place[member][order], game.classes.units,
    )  # fmt: skip
    return board, entry, of_entry
