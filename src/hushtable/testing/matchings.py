"""Perfect matchings, the slow way: twins of ``hushtable.release.matching``, which never builds more than one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

__all__ = ["perfect_matchings", "possible_by_force"]


def perfect_matchings(covers: Sequence[set[int]]) -> Iterator[tuple[int, ...]]:
    """Yield every way to give each record one of the people whom it covers, everybody once.

    Examples
    --------
    >>> list(perfect_matchings([{0, 1}, {0, 1, 2}, {2}]))
    [(0, 1, 2), (1, 0, 2)]
    """

    def rest(record: int, free: frozenset[int]) -> Iterator[tuple[int, ...]]:
        if record == len(covers):
            yield ()
            return
        for person in sorted(covers[record] & free):
            for more in rest(record + 1, free - {person}):
                yield (person, *more)

    yield from rest(0, frozenset(range(len(covers))))


def possible_by_force(covers: Sequence[set[int]]) -> list[set[int]]:
    """Return the possible people of each record: each is tried, and the others have to find their places.

    Examples
    --------
    >>> possible_by_force([{0, 1}, {1}])
    [{0}, {1}]
    """

    def fits(record: int, person: int) -> bool:
        owner = {person: record}

        def place(one: int, seen: set[int]) -> bool:
            for candidate in covers[one] - {person}:
                if candidate not in seen:
                    seen.add(candidate)
                    if candidate not in owner or place(owner[candidate], seen):
                        owner[candidate] = one
                        return True
            return False

        return all(place(one, set()) for one in range(len(covers)) if one != record)

    return [{person for person in own if fits(record, person)} for record, own in enumerate(covers)]
