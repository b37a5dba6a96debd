"""Graphics cards: the four steps of ``tiles`` as CUDA kernels, compiled at run time by CuPy.

The only module that imports CuPy. Single precision only rules out candidates; double precision decides, with one
rounding for each operation, in the order of the processor's loops. So the answers are identical to the last bit.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from hushtable.arrays import BoolArray, FloatArray, IntArray
from hushtable.kernels.passes import PassAnswers
from hushtable.kernels.rounds import RoundsState, grouped
from hushtable.kernels.tiles import ROOM, TILE, Asked, Device, DeviceLost

GROUP = 32
"""Questions that a thread block answers together."""

SPLITS = 16
"""Thread blocks that search the tiles of one question."""

SOURCE = r"""
#define THREADS 256

extern "C" __global__ __launch_bounds__(THREADS)
void extremes(const float* shadow, long long stride, int d, const float* origin, int asked, int tiles,
              float* least, float* most)
{
    // origin: columns x asked (a multiple of GROUP); two records a thread
    __shared__ float there[64][GROUP];
    __shared__ float low[THREADS / 32][GROUP], high[THREADS / 32][GROUP];
    const int first = blockIdx.y * GROUP;
    const float* mine = shadow + (long long)blockIdx.x * TILE + threadIdx.x;
    float a[GROUP], b[GROUP];
    #pragma unroll
    for (int q = 0; q < GROUP; q++) { a[q] = 0.0f; b[q] = 0.0f; }
    for (int begin = 0; begin < d; begin += 64) {
        const int columns = min(64, d - begin);
        __syncthreads();
        for (int i = threadIdx.x; i < columns * GROUP; i += THREADS)
            there[i / GROUP][i % GROUP] = origin[(long long)(begin + i / GROUP) * asked + first + i % GROUP];
        __syncthreads();
        for (int j = 0; j < columns; j++) {
            const float x = mine[(begin + j) * stride], y = mine[(begin + j) * stride + THREADS];
            #pragma unroll
            for (int q = 0; q < GROUP; q++) {
                const float s = x - there[j][q], t = y - there[j][q];
                a[q] = fmaf(s, s, a[q]);
                b[q] = fmaf(t, t, b[q]);
            }
        }
    }
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    #pragma unroll
    for (int q = 0; q < GROUP; q++) {
        // NaN, a record that is gone, loses against every number
        float lo = fminf(a[q], b[q]), hi = fmaxf(a[q], b[q]);
        for (int step = 16; step > 0; step /= 2) {
            lo = fminf(lo, __shfl_xor_sync(0xffffffff, lo, step));
            hi = fmaxf(hi, __shfl_xor_sync(0xffffffff, hi, step));
        }
        if (lane == 0) { low[warp][q] = lo; high[warp][q] = hi; }
    }
    __syncthreads();
    if (threadIdx.x < GROUP) {
        float lo = low[0][threadIdx.x], hi = high[0][threadIdx.x];
        for (int w = 1; w < THREADS / 32; w++) {
            lo = fminf(lo, low[w][threadIdx.x]);
            hi = fmaxf(hi, high[w][threadIdx.x]);
        }
        const long long at = (long long)(first + threadIdx.x) * tiles + blockIdx.x;
        least[at] = lo == lo ? lo : __int_as_float(0x7f800000);
        most[at] = hi == hi ? hi : -1.0f;
    }
}

__device__ int how_many(const float* values, int n, float cut, bool below)
{
    __shared__ int total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    int mine = 0;
    for (int i = threadIdx.x; i < n; i += THREADS) mine += below ? values[i] <= cut : values[i] >= cut;
    for (int step = 16; step > 0; step /= 2) mine += __shfl_xor_sync(0xffffffff, mine, step);
    if (threadIdx.x % 32 == 0) atomicAdd(&total, mine);
    __syncthreads();
    const int all = total;
    __syncthreads();
    return all;
}

__device__ double widened(double cut, double off, int d, int sign)
{
    const double room = 1.0 + sign * (2 * d + 32) * 5.9604644775390625e-08;
    double s = sqrt(cut);
    for (int i = 0; i < 2; i++) s = sign > 0 ? (s + off) * room : fmax(s * room - off, 0.0);
    return s * s * (1.0 + sign * 9.5367431640625e-07);
}

extern "C" __global__ __launch_bounds__(THREADS)
void cuts(const float* least, const float* most, int tiles, const double* off, int d, int near, int far,
          float* within, float* beyond)
{
    // floats from 0 up are ordered as their bits: 32 halvings find the one that is wanted
    const int q = blockIdx.x;
    const unsigned int endless = 0x7f800000u;
    const float* lo = least + (long long)q * tiles;
    const float* hi = most + (long long)q * tiles;
    unsigned int a = 0, b = endless;
    // the nearest of all is the record itself
    const int reach = near + 1;
    if (near > 0 && reach <= tiles) {
        while (a < b) {
            const unsigned int middle = a + (b - a) / 2;
            if (how_many(lo, tiles, __uint_as_float(middle), true) >= reach) b = middle; else a = middle + 1;
        }
    }
    unsigned int e = 0, f = endless;
    if (far > 0 && far <= tiles) {
        while (e < f) {
            const unsigned int middle = e + (f - e + 1) / 2;
            if (how_many(hi, tiles, __uint_as_float(middle), false) >= far) e = middle; else f = middle - 1;
        }
    }
    if (threadIdx.x == 0) {
        const float near_cut = reach > tiles ? __uint_as_float(endless) : __uint_as_float(b);
        within[q] = near > 0 ? (float)widened(near_cut, off[q], d, 1) : -1.0f;
        beyond[q] = far > 0 ? (float)widened(far > tiles ? 0.0f : __uint_as_float(e), off[q], d, -1)
                            : __uint_as_float(0x7fc00000u);
    }
}

extern "C" __global__ __launch_bounds__(THREADS)
void collect(const float* shadow, long long stride, int d, const long long* ids, const long long* places,
             const double* points, const float* origin, int asked, const double* there, const long long* rows,
             const float* least, const float* most, int tiles, const float* within, const float* beyond, int* counts,
             long long* who, double* away)
{
    const int q = blockIdx.x;
    __shared__ int reached[THREADS];
    __shared__ int n;
    const float close = within[q], wide = beyond[q];
    for (int begin = blockIdx.y * THREADS; begin < tiles; begin += gridDim.y * THREADS) {
        if (threadIdx.x == 0) n = 0;
        __syncthreads();
        const int tile = begin + threadIdx.x;
        if (tile < tiles) {
            const long long at = (long long)q * tiles + tile;
            if (least[at] <= close || most[at] >= wide) reached[atomicAdd(&n, 1)] = tile;
        }
        __syncthreads();
        const int all = n;
        for (int i = 0; i < all; i++) {
            for (int half = 0; half < 2; half++) {
                const long long p = (long long)reached[i] * TILE + half * THREADS + threadIdx.x;
                float s = 0.0f;
                for (int j = 0; j < d; j++) {
                    const float t = shadow[j * stride + p] - origin[(long long)j * asked + q];
                    s = fmaf(t, t, s);
                }
                const bool nearer = s <= close, farther = s >= wide;
                if (!nearer && !farther) continue;
                const long long row = ids[p];
                const double* record = points + places[p] * d;
                double exact = 0.0;
                for (int j = 0; j < d; j++) {
                    const double t = __dsub_rn(record[j], there[(long long)q * d + j]);
                    exact = __dadd_rn(exact, __dmul_rn(t, t));
                }
                for (int side = 0; side < 2; side++) {
                    if (side == 0 ? !nearer || row == rows[q] : !farther) continue;
                    const int at = atomicAdd(counts + 2 * q + side, 1);
                    if (at < ROOM) {
                        who[(2 * q + side) * ROOM + at] = row;
                        away[(2 * q + side) * ROOM + at] = exact;
                    }
                }
            }
        }
        __syncthreads();
    }
}

extern "C" __global__ __launch_bounds__(THREADS)
void pick(const int* counts, const long long* who, const double* away, int near, int far, long long* best,
          double* best_away)
{
    const int side = blockIdx.x % 2, wanted = side == 0 ? near : far, width = near + far;
    const int n = min(counts[blockIdx.x], ROOM);
    const long long* mine = who + (long long)blockIdx.x * ROOM;
    const double* apart = away + (long long)blockIdx.x * ROOM;
    long long* out = best + (long long)(blockIdx.x / 2) * width + side * near;
    double* out_away = best_away + (long long)(blockIdx.x / 2) * width + side * near;
    for (int i = threadIdx.x; i < wanted; i += THREADS) {
        if (i < n) continue;
        out[i] = -1;
        out_away[i] = __longlong_as_double((long long)((side ? 0xfffull : 0x7ffull) << 52));
    }
    for (int i = threadIdx.x; i < n; i += THREADS) {
        int rank = 0;
        for (int j = 0; j < n; j++) {
            const bool before = side == 0 ? apart[j] < apart[i] : apart[j] > apart[i];
            rank += before || (apart[j] == apart[i] && mine[j] < mine[i]);
        }
        if (rank < wanted) { out[rank] = mine[i]; out_away[rank] = apart[i]; }
    }
}

extern "C" __global__ __launch_bounds__(THREADS)
void write(const double* points, const long long* places, long long n, long long stride, int d,
           const double* middle, double scale, float* shadow)
{
    const long long p = (long long)blockIdx.x * THREADS + threadIdx.x;
    if (p >= stride) return;
    for (int j = 0; j < d; j++)
        shadow[j * stride + p] = p < n ? (float)((points[places[p] * d + j] - middle[j]) * scale)
                                       : __int_as_float(0x7fc00000);
}

__device__ unsigned long long mixed(unsigned long long x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

extern "C" __global__ __launch_bounds__(THREADS)
void propose(const double* points, const long long* own, const long long* near, const long long* member,
             const long long* count, const double* total, long long number, double heat, const double* tolerance,
             int least, int groups, int d, int width, int room, long long* there, long long* seat, long long* other,
             long long* ticket, long long* held, long long* held_next)
{
    const long long a = (long long)blockIdx.x * THREADS + threadIdx.x;
    if (a >= groups) return;
    held_next[a] = 0x7fffffffffffffffll;
    there[a] = -1;
    const unsigned long long start = (unsigned long long)number * 0x9e3779b97f4a7c15ull + 0xd1342543de82ef95ull;
    const unsigned long long h = mixed(start + (unsigned long long)a * 0xd1342543de82ef95ull);
    const long long na = count[a];
    seat[a] = (long long)(((h >> 8) & 0xffff) * na) >> 16;
    const long long i = member[a * room + seat[a]];
    const double share = (double)((h >> 24) & 1023) / 1024.0;
    const long long b = own[near[i * width + (int)__dmul_rn(__dmul_rn(share, share), (double)width)]];
    if (b == a) return;
    const long long nb = count[b];
    const double* x = total + a * d;
    const double* y = total + b * d;
    const double* p = points + i * d;
    double change;
    if (na > least && nb < room && (h & 1) == 0) {
        other[a] = -1;
        double sa = 0.0, sb = 0.0, da = 0.0, db = 0.0, q = 0.0;
        for (int c = 0; c < d; c++) {
            sa = __dadd_rn(sa, __dmul_rn(x[c], x[c]));
            sb = __dadd_rn(sb, __dmul_rn(y[c], y[c]));
            da = __dadd_rn(da, __dmul_rn(x[c], p[c]));
            db = __dadd_rn(db, __dmul_rn(y[c], p[c]));
            q = __dadd_rn(q, __dmul_rn(p[c], p[c]));
        }
        const double without = __ddiv_rn(__dadd_rn(__dsub_rn(sa, 2.0 * da), q), (double)(na - 1));
        const double with = __ddiv_rn(__dadd_rn(__dadd_rn(sb, 2.0 * db), q), (double)(nb + 1));
        change = __dsub_rn(__ddiv_rn(sa, (double)na), without);
        change = __dsub_rn(__dadd_rn(change, __ddiv_rn(sb, (double)nb)), with);
    } else {
        other[a] = (long long)(((h >> 46) & 0xffff) * nb) >> 16;
        const double* r = points + member[b * room + other[a]] * d;
        double along = 0.0, apart = 0.0;
        for (int c = 0; c < d; c++) {
            const double diff = __dsub_rn(r[c], p[c]);
            const double pull = __dsub_rn(__dmul_rn(x[c], (double)nb), __dmul_rn(y[c], (double)na));
            along = __dadd_rn(along, __dmul_rn(diff, pull));
            apart = __dadd_rn(apart, __dmul_rn(diff, diff));
        }
        const double sum = __dadd_rn(2.0 * along, __dmul_rn(apart, (double)(na + nb)));
        change = -__ddiv_rn(sum, (double)(na * nb));
    }
    if (change < __dmul_rn(heat, tolerance[(h >> 34) & 4095])) {
        there[a] = b;
        ticket[a] = (long long)(((mixed(h) & 0xffffffff00000000ull) >> 1) & 0xffffffff00000000ull) | a;
        atomicMin(held + a, ticket[a]);
        atomicMin(held + b, ticket[a]);
    }
}

extern "C" __global__ __launch_bounds__(THREADS)
void settle(const double* points, long long* own, long long* member, long long* count, double* total,
            const long long* ticket, const long long* held, const long long* there, const long long* seat,
            const long long* other, int groups, int d, int room)
{
    const long long a = (long long)blockIdx.x * THREADS + threadIdx.x;
    if (a >= groups) return;
    const long long b = there[a];
    if (b < 0 || held[a] != ticket[a] || held[b] != ticket[a]) return;
    const long long i = member[a * room + seat[a]];
    own[i] = b;
    if (other[a] < 0) {
        count[a] -= 1;
        member[a * room + seat[a]] = member[a * room + count[a]];
        member[b * room + count[b]] = i;
        count[b] += 1;
        for (int c = 0; c < d; c++) {
            total[a * d + c] = __dsub_rn(total[a * d + c], points[i * d + c]);
            total[b * d + c] = __dadd_rn(total[b * d + c], points[i * d + c]);
        }
        return;
    }
    const long long r = member[b * room + other[a]];
    own[r] = a;
    member[a * room + seat[a]] = r;
    member[b * room + other[a]] = i;
    for (int c = 0; c < d; c++) {
        const double diff = __dsub_rn(points[r * d + c], points[i * d + c]);
        total[a * d + c] = __dadd_rn(total[a * d + c], diff);
        total[b * d + c] = __dsub_rn(total[b * d + c], diff);
    }
}

extern "C" __global__ void bury(const long long* places, int n, float* shadow)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) shadow[places[i]] = __int_as_float(0x7fc00000);
}
"""


@functools.cache
def card_problem() -> tuple[str, str] | None:
    """Return why no card can be used, as a sentence and its remedy; None if one can."""
    try:
        import cupy
    except ImportError:
        return "CuPy is not installed.", "Install it with: pip install 'hushtable[gpu]'."
    try:
        if cupy.cuda.runtime.getDeviceCount() < 1:
            return "This machine has no NVIDIA card.", "Use 'device: cpu'."
    except cupy.cuda.runtime.CUDARuntimeError as error:
        if "InsufficientDriver" in str(error):
            return "The driver of the NVIDIA card is older than CuPy needs.", "Update the driver, or use 'device: cpu'."
        if "DevicesUnavailable" in str(error):
            return "Another program has exclusive use of the NVIDIA card.", "Wait for it to end, or use 'device: cpu'."
        return "This machine has no NVIDIA card that CuPy can use.", "Use 'device: cpu'."
    try:
        _kernels()
    except Exception as error:  # NVRTC or headers missing: the error differs between versions of CuPy
        return (
            f"CuPy could not compile for the card ({type(error).__name__}).",
            "Install CuPy with its CUDA headers (cupy-cuda12x[ctk] or cupy-cuda13x[ctk]), or use 'device: cpu'.",
        )
    return None


def free_bytes() -> int:
    """Return the free memory of the card."""
    import cupy

    return int(cupy.cuda.runtime.memGetInfo()[0])


@functools.cache
def _kernels() -> dict[str, Any]:
    import cupy

    options = (f"-DTILE={TILE}", f"-DGROUP={GROUP}", f"-DROOM={ROOM}")
    module = cupy.RawModule(code=SOURCE, options=options)
    return {name: module.get_function(name) for name in re.findall(r"\bvoid (\w+)\(", SOURCE)}


@contextmanager
def _lost() -> Iterator[None]:
    """Convert the card's errors into ``DeviceLost``."""
    import cupy

    try:
        yield
    except cupy.cuda.memory.OutOfMemoryError:
        raise DeviceLost("The card has too little free memory; others may be using it.") from None
    except (cupy.cuda.runtime.CUDARuntimeError, cupy.cuda.driver.CUDADriverError) as error:
        raise DeviceLost(f"The card failed ({type(error).__name__}).") from None


class Card(Device):
    """The records on a card: in double precision unchanged, in single precision column by column.

    Examples
    --------
    >>> Card.needed_bytes(1_000_000, 50) <= 2.5 * 8 * 1_000_000 * 50
    True
    """

    questions = 128

    @staticmethod
    def needed_bytes(n: int, d: int) -> int:
        """Return how much memory this many records need: the table, its shadow, and another while it is compacted."""
        return n * (8 * d + 4 * d + 4 * d + 32) + (64 << 20)

    def load(self, points: FloatArray, ids: IntArray, middle: FloatArray, scale: float) -> None:
        """Copy the records to the card, and write their shadow there."""
        import cupy

        with _lost():
            self._points = cupy.asarray(np.ascontiguousarray(points))
            self._middle, self._scale, self._d = cupy.asarray(middle), scale, points.shape[1]
            self._ids, self._places = cupy.asarray(ids), cupy.arange(len(ids), dtype=cupy.int64)
            self._write()

    def _write(self) -> None:
        import cupy

        self._n = len(self._ids)
        self._tiles = max(-(-self._n // TILE), 1)
        self._stride = self._tiles * TILE
        self._shadow = cupy.empty((self._d, self._stride), dtype=cupy.float32)
        blocks = -(-self._stride // 256)
        arguments = (
            self._points, self._places, np.int64(self._n), np.int64(self._stride), np.int32(self._d), self._middle,
            np.float64(self._scale), self._shadow,
        )  # fmt: skip
        _kernels()["write"]((blocks,), (256,), arguments)

    def bury(self, places: IntArray) -> None:
        """Make the first term of their distances NaN."""
        import cupy

        with _lost():
            arguments = (cupy.asarray(places), np.int32(len(places)), self._shadow)
            _kernels()["bury"]((-(-len(places) // 256),), (256,), arguments)

    def keep(self, places: IntArray) -> None:
        """Rewrite the shadow; the records in double precision stay where they are."""
        import cupy

        with _lost():
            stay = cupy.asarray(places)
            self._ids, self._places = self._ids[stay], self._places[stay]
            del self._shadow
            self._write()

    def again(self) -> Card:
        """Return a copy that shares the records in double precision."""
        other = Card()
        other.__dict__.update(self.__dict__, _shadow=self._shadow.copy())
        return other

    def answer(self, asked: Asked) -> tuple[PassAnswers, BoolArray]:
        """Run the four kernels."""
        with _lost():
            return self._answer(asked)

    def _answer(self, asked: Asked) -> tuple[PassAnswers, BoolArray]:
        import cupy

        q, d = asked.origin.shape
        padded = -(-q // GROUP) * GROUP
        origin = np.zeros((d, padded), dtype=np.float32)
        origin[:, :q] = asked.origin.T
        on_card = cupy.asarray(origin)
        rows, there, off = cupy.asarray(asked.rows), cupy.asarray(asked.points), cupy.asarray(asked.off)
        least = cupy.empty((padded, self._tiles), dtype=cupy.float32)
        most, kernels = cupy.empty_like(least), _kernels()
        stride, columns, tiles = np.int64(self._stride), np.int32(d), np.int32(self._tiles)
        arguments: tuple[Any, ...] = (self._shadow, stride, columns, on_card, np.int32(padded), tiles, least, most)
        kernels["extremes"]((self._tiles, padded // GROUP), (256,), arguments)
        within, beyond = cupy.empty(q, dtype=cupy.float32), cupy.empty(q, dtype=cupy.float32)
        near, far = np.int32(asked.near), np.int32(asked.far)
        kernels["cuts"]((q,), (256,), (least, most, tiles, off, columns, near, far, within, beyond))
        counts = cupy.zeros(2 * q, dtype=cupy.int32)
        who, away = cupy.empty(2 * q * ROOM, dtype=cupy.int64), cupy.empty(2 * q * ROOM)
        arguments = (
            self._shadow, stride, columns, self._ids, self._places, self._points, on_card, np.int32(padded), there,
            rows, least, most, tiles, within, beyond, counts, who, away,
        )  # fmt: skip
        kernels["collect"]((q, SPLITS), (256,), arguments)
        width = asked.near + asked.far
        best, best_away = cupy.empty((q, width), dtype=cupy.int64), cupy.empty((q, width))
        kernels["pick"]((2 * q,), (256,), (counts, who, away, near, far, best, best_away))
        full = (cupy.asnumpy(counts).reshape(q, 2) > ROOM).any(axis=1)
        found, apart = cupy.asnumpy(best), cupy.asnumpy(best_away)
        k = asked.near
        return PassAnswers(found[:, :k].copy(), apart[:, :k].copy(), found[:, k:].copy(), apart[:, k:].copy()), full


class CardRounds(RoundsState):
    """Annealing in rounds on a card; parameters as for ``rounds.Processor``."""

    def __init__(self, points: FloatArray, labels: IntArray, near: IntArray, least: int, tolerance: FloatArray) -> None:
        import cupy

        with _lost():
            self._least, self._d, self._width = least, points.shape[1], near.shape[1]
            own, member, count, total = grouped(points, labels, least)
            self._n, self._room = member.shape
            self._points, self._near, self._tolerance = (cupy.asarray(x) for x in (points, near, tolerance))
            self._own, self._member, self._count, self._total = (cupy.asarray(x) for x in (own, member, count, total))
            self._drafts = [cupy.empty(self._n, dtype=cupy.int64) for _ in range(4)]
            self._held = [cupy.full(self._n, 2**63 - 1, dtype=cupy.int64) for _ in range(2)]

    def labels(self) -> IntArray:
        """Return the group of each record."""
        import cupy

        with _lost():
            return np.asarray(cupy.asnumpy(self._own))

    def run(self, first: int, heats: FloatArray) -> None:
        """Make the rounds, two kernels each."""
        with _lost():
            kernels, blocks = _kernels(), (-(-self._n // 256),)
            groups, d, room = np.int32(self._n), np.int32(self._d), np.int32(self._room)
            there, seat, other, ticket = self._drafts
            for number, heat in enumerate(heats, first):
                held, held_next = self._held[number % 2], self._held[(number + 1) % 2]
                kernels["propose"](blocks, (256,), (
                    self._points, self._own, self._near, self._member, self._count, self._total, np.int64(number), heat,
                    self._tolerance, np.int32(self._least), groups, d, np.int32(self._width), room, there, seat, other,
                    ticket, held, held_next,
                ))  # fmt: skip
                kernels["settle"](blocks, (256,), (
                    self._points, self._own, self._member, self._count, self._total, ticket, held, there, seat, other,
                    groups, d, room,
                ))  # fmt: skip
