"""Which pairs can be used when supplies are spread over places with just as much room.

A greatest flow is one way to spread them. A pair that it does not use can be used in another way if and only if both
its ends are in one strongly connected component of the residual graph: then there is a circle of pairs along which the
supplies can be moved.

References
----------
J.-C. Regin, "A filtering algorithm for constraints of difference in CSPs", 1994.
J.-C. Regin, "Generalized arc consistency for global cardinality constraint", 1996.
"""

from __future__ import annotations

import numpy as np

from hushtable.arrays import BoolArray, IntArray

__all__ = ["spread"]


def spread(row: IntArray, column: IntArray, supply: IntArray, room: IntArray) -> tuple[IntArray, BoolArray]:
    """Spread the supplies of rows over columns along some pairs.

    Parameters
    ----------
    row, column : int64 arrays
        The pairs, each of them once.
    supply : int64 array
        Of every row, below 2**31.
    room : int64 array
        Of every column, below 2**31.

    Returns
    -------
    flow, usable
        How much goes along each pair; and whether some way to spread everything uses the pair, given that there is one
        (there is none where the flow of some row is less than its supply) and that the rooms are filled by it.

    Examples
    --------
    >>> row, column = np.array([0, 0, 1, 1, 1]), np.array([0, 1, 0, 1, 2])
    >>> flow, usable = spread(row, column, np.array([2, 1]), np.array([1, 1, 1]))
    >>> flow.tolist(), usable.tolist()
    ([1, 1, 0, 0, 1], [True, True, False, False, True])
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components, maximum_flow

    # the source is 0; then come the rows, the columns and the sink
    m, v = len(supply), len(room)
    size = m + v + 2
    tail = np.concatenate([np.zeros(m, dtype=np.int64), row + 1, np.arange(v) + m + 1])
    head = np.concatenate([np.arange(m) + 1, column + m + 1, np.full(v, m + v + 1)])
    most = np.concatenate([supply, supply[row], room]).astype(np.int32)
    graph = csr_array((most, (tail.astype(np.int32), head.astype(np.int32))), shape=(size, size))
    found = maximum_flow(graph, 0, m + v + 1).flow.tocoo()
    given = found.data > 0
    keys = found.row[given].astype(np.int64) * size + found.col[given]
    order = np.argsort(keys)
    keys, units = np.append(keys[order], -1), np.append(found.data[given][order], 0).astype(np.int64)
    wanted = (row + 1) * size + column + m + 1
    place = np.searchsorted(keys[:-1], wanted)
    flow = np.where(keys[place] == wanted, units[place], 0)
    more, less = flow < supply[row], flow > 0
    ends = np.concatenate([row[more], m + column[less]]), np.concatenate([m + column[more], row[less]])
    residual = csr_array((np.ones(len(ends[0]), dtype=np.int8), ends), shape=(m + v, m + v))
    part = connected_components(residual, directed=True, connection="strong")[1]
    return flow, np.asarray(less | (part[row] == part[m + column]))
