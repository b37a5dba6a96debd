"""Random lattices in the layout that the kernels take."""

from __future__ import annotations

import numpy as np

from hushtable.kernels.packing import pack_tuples


def random_lattice(seed: int, rows: int, columns: int, minimum: int):
    """Codes with nested look-up tables in the layout that the kernels take."""
    generator = np.random.default_rng(seed)
    parts, at = [], 0
    width = 4
    starts, sizes = np.zeros((columns, width), np.int64), np.zeros((columns, width), np.int64)
    codes = np.empty((rows, columns), np.uint8)
    for j in range(columns):
        leaves = int(generator.integers(1, 9))
        codes[:, j] = generator.integers(0, leaves, rows)
        nodes = np.arange(leaves)
        for level in range(int(generator.integers(1, width + 1))):
            if level:
                nodes = nodes // 2 if generator.random() < 0.7 else nodes * 0
            starts[j, level], sizes[j, level] = at, int(nodes.max()) + 1
            parts.append(nodes)
            at += leaves
    codes = codes[np.lexsort(codes.T[::-1])]
    units = generator.integers(0, 2 * minimum, rows)
    return codes, units.astype(np.int64), np.concatenate(parts).astype(np.int32), starts, sizes


def packed(codes, sizes, blocks):
    return pack_tuples(codes.T, sizes[:, 0], np.array(blocks))
