"""Kernel of founding groups: dissolve a costly group into new ones, with records that other groups can spare."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from hushtable.arrays import AnyArray, IntArray
from hushtable.kernels.compile import dispatch
from hushtable.kernels.cover import NODE, RANGE, Tables
from hushtable.kernels.grouping import stable_order

EXIT = -1
_PATIENCE = 2  # companions whose cell alone costs more than this many times the exit are discarded


class Lenders(NamedTuple):
    """Records that their groups can spare; equal records of a group are one entry.

    Attributes
    ----------
    row, group : int64 arrays
        One record of each entry, and its group.
    copies : int64 array
        Number of records that the entry represents.
    credit : int64 array
        What the group saves if one of them leaves.
    room : int64 array
        Total number of records that each group can spare.
    """

    row: IntArray
    group: IntArray
    copies: IntArray
    credit: IntArray
    room: IntArray


class Founded(NamedTuple):
    """Where the records of dissolved groups go.

    Attributes
    ----------
    offsets : int64 array
        Moves ``offsets[i]:offsets[i + 1]`` belong to the i-th group; none if dissolving is not worthwhile.
    who : int64 array
        A row, or ``-1 - e`` for one record of entry e.
    where : int64 array
        The new group that it goes to (0, 1, ... within the proposal), or ``EXIT`` for its cheapest other group.
    gain : int64 array
        Estimated savings, from one group alone.
    """

    offsets: IntArray
    who: IntArray
    where: IntArray
    gain: IntArray


def found_groups(
    codes: AnyArray, seeds: IntArray, rows: IntArray, offsets: IntArray, want: int, lenders: Lenders, price: IntArray,
    cost: IntArray, tables: Tables,
) -> Founded:  # fmt: skip
    """Dissolve groups into new ones with borrowed companions.

    The records of a group are taken by the cost of leaving, the highest first. Each collects companions from the rest
    of its group and the lenders, always the one that adds least to the new group's loss. If the new group of ``want``
    records costs less than their exits, it is founded; otherwise the record leaves for its cheapest group.

    Parameters
    ----------
    seeds : int64 array
        The groups to dissolve.
    rows, offsets : int64 arrays
        The rows of every group.
    want : int
        Records of a new group.
    price : int64 array
        Each row's cost of joining its cheapest other group.
    cost : int64 array
        The cost of one record of each group.
    """
    arguments = (
        codes, seeds, rows, offsets, want, *lenders, price, cost, tables.kind, tables.at, tables.size, tables.weight,
        tables.gap, tables.word, max(tables.words, 1), tables.node, tables.leaf,
    )  # fmt: skip
    work = len(seeds) * len(lenders.row) // 8
    ends, who, where, gain = dispatch(_found_loops, _found_numpy, work)(*arguments)
    return Founded(np.concatenate([[0], ends]).astype(np.int64), who, where, gain)


def _costs_numpy(
    codes: Any, kind: Any, at: Any, size: Any, weight: Any, gap: Any, node: Any, leaf: Any, members: list[int],
    candidates: Any,
) -> Any:  # fmt: skip
    """The cost of one record of the group of these members with each candidate."""
    total = np.zeros(len(candidates), dtype=np.int64)
    for j in range(codes.shape[1]):
        own = codes[members, j].astype(np.int64)
        new = codes[candidates, j].astype(np.int64)
        if kind[j] == NODE:
            h = np.zeros(len(candidates), dtype=np.int64)
            for c in own:
                while (apart := node[at[j] + h * size[j] + c] != node[at[j] + h * size[j] + new]).any():
                    h += apart
                while (apart := node[at[j] + h * size[j] + c] != node[at[j] + h * size[j] + own[0]]).any():
                    h += apart
            total += leaf[at[j] + h * size[j] + new]
        elif kind[j] == RANGE:
            low, high = np.minimum(new, own.min()), np.maximum(new, own.max())
            total += np.where((gap[j] >= 0) & (low == 0) & (high > 0), gap[j], (high - low) * weight[j])
        else:
            total += (len(np.unique(own)) - 1 + ~np.isin(new, own)) * weight[j]
    return total


def _found_numpy(
    codes: Any, seeds: Any, rows: Any, offsets: Any, want: Any, lender: Any, lender_group: Any, count: Any,
    credit: Any, room: Any, price: Any, cost: Any, kind: Any, at: Any, size: Any, weight: Any, gap: Any, word: Any,
    words: Any, node: Any, leaf: Any,
) -> tuple[Any, Any, Any, Any]:  # fmt: skip
    costs = functools.partial(_costs_numpy, codes, kind, at, size, weight, gap, node, leaf)
    ends, who, where, gains = [], [], [], []
    for g in seeds:
        mine = rows[offsets[g] : offsets[g + 1]]
        spent, left = np.zeros(len(lender), dtype=np.int64), room.copy()
        waiting = [int(r) for r in mine[np.argsort(-price[mine], kind="stable")]]
        place = {int(r): i for i, r in enumerate(mine)}
        moves, leaving, saved, founded = [], [], 0, 0
        while waiting:
            r = waiting.pop(0)
            alone = costs([r], lender)
            near = np.flatnonzero((lender_group != g) & (want * (alone - credit) < _PATIENCE * price[r]))
            members, picks, total, owed = [r], [], 0, int(price[r])
            spent_now, left_now = spent.copy(), left.copy()
            while len(members) < want:
                free = sorted((q for q in waiting if q not in members), key=place.__getitem__)
                mates = np.array(free, dtype=np.int64)
                able = near[(spent_now[near] < count[near]) & (left_now[lender_group[near]] > 0)]
                values = np.concatenate([
                    want * (costs(members, mates) - total) - price[mates],
                    want * (costs(members, lender[able]) - total) - credit[able],
                ])  # fmt: skip
                if not len(values):
                    break
                least = int(np.argmin(values))
                e = -1 if least < len(mates) else int(able[least - len(mates)])
                picked = int(mates[least]) if e < 0 else int(lender[e])
                picks.append(picked if e < 0 else -1 - e)
                owed += int(price[picked]) if e < 0 else int(credit[e])
                if e >= 0:
                    spent_now[e] += 1
                    left_now[lender_group[e]] -= 1
                total = int(costs(members, np.array([picked]))[0])
                members.append(picked)
            if len(members) == want and want * total < owed:
                saved += owed - want * total
                spent, left = spent_now, left_now
                moves += [(p, founded) for p in [r, *picks]]
                waiting = [q for q in waiting if q not in picks]
                founded += 1
            else:
                leaving.append(r)
        moves += [(r, EXIT) for r in sorted(leaving, key=place.__getitem__)]
        gain = len(mine) * int(cost[g]) - int(price[mine].sum()) + saved
        if gain > 0 and founded:
            who += [m[0] for m in moves]
            where += [m[1] for m in moves]
        ends.append(len(who))
        gains.append(gain)
    return tuple(np.array(x, dtype=np.int64) for x in (ends, who, where, gains))  # type: ignore[return-value]


def _found_loops(
    codes: Any, seeds: Any, rows: Any, offsets: Any, want: Any, lender: Any, lender_group: Any, count: Any,
    credit: Any, room: Any, price: Any, cost: Any, kind: Any, at: Any, size: Any, weight: Any, gap: Any, word: Any,
    words: Any, node: Any, leaf: Any,
) -> tuple[Any, Any, Any, Any]:  # fmt: skip
    d = codes.shape[1]
    capacity = 64
    for i in range(len(seeds)):
        capacity += (offsets[seeds[i] + 1] - offsets[seeds[i]]) * want
    who, where = np.empty(capacity, np.int64), np.empty(capacity, np.int64)
    ends, gains = np.empty(len(seeds), np.int64), np.empty(len(seeds), np.int64)
    spent, left = np.zeros(len(lender), np.int64), room.copy()
    first, second, current = np.zeros(d, np.int64), np.zeros(d, np.int64), np.zeros(d, np.int64)
    bits = np.zeros(words, np.uint64)
    near = np.empty(len(lender), np.int64)
    member, picked = np.empty(want, np.int64), np.empty(want, np.int64)
    n = 0
    for i in range(len(seeds)):
        g = seeds[i]
        begin, m = offsets[g], offsets[g + 1] - offsets[g]
        fate = np.zeros(m, np.int64)  # 0 waiting, 1 in a new group, 2 leaving
        dear = stable_order(-price[rows[begin : begin + m]])
        start, saved, founded = n, np.int64(0), 0
        for t in range(m):
            own = dear[t]
            if fate[own] != 0:
                continue
            r = rows[begin + own]
            for j in range(d):
                c = np.int64(codes[r, j])
                first[j], second[j], current[j] = c, 0 if kind[j] == NODE else c, 0
                if kind[j] != NODE and kind[j] != RANGE:
                    bits[word[j] + (c >> 6)] |= np.uint64(1) << np.uint64(c & 63)
            member[0], picked[0] = r, r
            filled, total, owed, n_near = 1, np.int64(0), price[r], 0
            for e in range(len(lender)):
                if lender_group[e] == g:
                    continue
                s, alone = lender[e], np.int64(0)
                # want * (alone - credit) < patience * price
                most = (_PATIENCE * price[r] + want * credit[e] - 1) // want
                for j in range(d):
                    c, a = np.int64(codes[s, j]), first[j]
                    if c == a:
                        continue
                    if kind[j] == NODE:
                        h = np.int64(1)
                        while node[at[j] + h * size[j] + a] != node[at[j] + h * size[j] + c]:
                            h += 1
                        alone += leaf[at[j] + h * size[j] + a]
                    elif kind[j] == RANGE:
                        x = abs(c - a) * weight[j]
                        if gap[j] >= 0 and min(a, c) == 0:
                            x = gap[j]
                        alone += x
                    else:
                        alone += weight[j]
                    if alone > most:
                        break
                if alone <= most:
                    near[n_near] = e
                    n_near += 1
            while filled < want:
                least, choice, mate = np.int64(2**62), np.int64(-1), np.int64(-1)
                for q in range(m + n_near):
                    if q < m:
                        if fate[q] != 0 or q == own:
                            continue
                        s = rows[begin + q]
                        known = False
                        for z in range(1, filled):
                            known |= member[z] == s
                        if known:
                            continue
                        back = price[s]
                    else:
                        e = near[q - m]
                        if spent[e] >= count[e] or left[lender_group[e]] <= 0:
                            continue
                        s = lender[e]
                        back = credit[e]
                    then = total
                    most = (least + back) // want + total
                    for j in range(d):
                        c = np.int64(codes[s, j])
                        if kind[j] == NODE:
                            a, h = first[j], second[j]
                            if node[at[j] + h * size[j] + a] == node[at[j] + h * size[j] + c]:
                                continue
                            h += 1
                            while node[at[j] + h * size[j] + a] != node[at[j] + h * size[j] + c]:
                                h += 1
                            then += leaf[at[j] + h * size[j] + a] - current[j]
                        elif kind[j] == RANGE:
                            a, b = min(first[j], c), max(second[j], c)
                            x = (b - a) * weight[j]
                            if gap[j] >= 0 and a == 0 and b > 0:
                                x = gap[j]
                            then += x - current[j]
                        elif (bits[word[j] + (c >> 6)] >> np.uint64(c & 63)) & np.uint64(1) == np.uint64(0):
                            then += weight[j]
                        if then > most:
                            break
                    value = want * (then - total) - back
                    if then <= most and value < least:
                        least = value
                        if q < m:
                            mate, choice = np.int64(q), np.int64(-1)
                        else:
                            mate, choice = np.int64(-1), near[q - m]
                if choice < 0 and mate < 0:
                    break
                if choice >= 0:
                    s = lender[choice]
                    spent[choice] += 1
                    left[lender_group[choice]] -= 1
                    owed += credit[choice]
                    picked[filled] = -1 - choice
                else:
                    s = rows[begin + mate]
                    owed += price[s]
                    picked[filled] = s
                member[filled] = s
                filled += 1
                total = np.int64(0)
                for j in range(d):
                    c = np.int64(codes[s, j])
                    if kind[j] == NODE:
                        while node[at[j] + second[j] * size[j] + first[j]] != node[at[j] + second[j] * size[j] + c]:
                            second[j] += 1
                        current[j] = leaf[at[j] + second[j] * size[j] + first[j]]
                    elif kind[j] == RANGE:
                        first[j], second[j] = min(first[j], c), max(second[j], c)
                        current[j] = (second[j] - first[j]) * weight[j]
                        if gap[j] >= 0 and first[j] == 0 and second[j] > 0:
                            current[j] = gap[j]
                    elif (bits[word[j] + (c >> 6)] >> np.uint64(c & 63)) & np.uint64(1) == np.uint64(0):
                        bits[word[j] + (c >> 6)] |= np.uint64(1) << np.uint64(c & 63)
                        current[j] += weight[j]
                    total += current[j]
            for z in range(filled):
                for j in range(d):
                    if kind[j] != NODE and kind[j] != RANGE:
                        bits[word[j] + (np.int64(codes[member[z], j]) >> 6)] = np.uint64(0)
            if filled == want and want * total < owed:
                saved += owed - want * total
                for z in range(want):
                    who[n], where[n] = picked[z], founded
                    n += 1
                founded += 1
                for q in range(m):
                    for z in range(want):
                        if picked[z] == rows[begin + q]:
                            fate[q] = 1
            else:
                for z in range(1, filled):
                    if picked[z] < 0:
                        spent[-1 - picked[z]] -= 1
                        left[lender_group[-1 - picked[z]]] += 1
                fate[own] = 2
        exits = np.int64(0)
        for z in range(start, n):
            if who[z] < 0:
                spent[-1 - who[z]] = 0
                left[lender_group[-1 - who[z]]] = room[lender_group[-1 - who[z]]]
        for q in range(m):
            exits += price[rows[begin + q]]
            if fate[q] == 2:
                who[n], where[n] = rows[begin + q], EXIT
                n += 1
        gains[i] = m * cost[g] - exits + saved
        if gains[i] <= 0 or founded == 0:
            n = start
        ends[i] = n
    return ends, who[:n].copy(), where[:n].copy(), gains
