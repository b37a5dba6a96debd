"""Dealing: the values of a class go to all its people at once, and what cannot go to somebody is excluded.

Everybody has one value, and every value of a class is somebody's. Where two of three people can only have two of the
three values, the third value is the third person's, though that one's classes have more in common. A value stays
possible for somebody only if some way to deal the class's values out to all its people gives it to them. What is
excluded in one class is excluded in the person's classes of other releases, so that this goes on until nothing changes.

People of whom the releases tell the same are dealt with as one *kind*, which takes as many values as it has people.
Counterfeits are one more kind: they take values too, and may have any of their class. Of people with several records
(``unit`` above 1) every record takes its share of a person; a share may be dealt in parts, which excludes less than
whole records would, and never too much.

A class is left as it is where no dealing exists, or only such as take their true value from somebody: a value has
changed meanwhile, so that nothing follows for certain. Then everything is dealt anew without that class. So is a class
where the people's shares are not those of its values: some records of its people were suppressed. (And one whose counts
are beyond 31 bits in their smallest unit, which takes people with many different numbers of records.)

What is dealt class by class is bounded for all classes at once (see ``hushtable.ledger.bounds``), and dealt again. A
class that only the bounds show to contradict others keeps what was found without them.

Cost: linear in the possible (kind, value) pairs to find which classes need dealing: those in which somebody cannot have
all values. For those one flow and one search of components over their pairs, in compiled code; again for classes whose
people lost a value in another, and from the start where a class has no dealing. A long chain of classes of which each
excludes a value in the next takes a turn (about a millisecond) for each. Bounds are linear in the pairs, and then in
those that change.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hushtable.arrays import BoolArray
from hushtable.ledger.bounding import bounded
from hushtable.ledger.game import Sheet, Truth, game_of
from hushtable.table.stats import Histogram

__all__ = ["deal"]


def deal(possible: Histogram, sheets: Sequence[Sheet], truth: Truth, steady: BoolArray) -> Histogram:
    """Leave of the possible values those that some dealing of every class gives.

    Parameters
    ----------
    possible : Histogram
        For every kind of people, the values that are in all their classes, with the least count.
    sheets : sequence of Sheet
        The releases.
    truth : Truth
        What the people have, as far as it is known.
    steady : bool array
        Which kinds have the same units in all their classes, record by record.

    Returns
    -------
    Histogram
        Values that are certainly others' are not counted any more for those who may have several.

    Examples
    --------
    Two people of three are in a class without the third value elsewhere; so it is the third person's.

    >>> classes = Histogram.dense([[1, 1, 1]])
    >>> sheet = Sheet(np.array([0, 0]), np.array([2, 1]), classes, np.array([0]))
    >>> nothing = Truth(*[np.zeros(0, dtype=np.int64)] * 3)
    >>> possible = Histogram.dense([[1, 1, 0], [1, 1, 1]])
    >>> deal(possible, [sheet], nothing, np.ones(2, dtype=bool)).as_matrix(3).tolist()
    [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    game = game_of(possible, sheets, truth, steady)
    shut = game.uneven()
    while True:
        alive, broken = game.settled(np.ones(len(game.owner), dtype=np.bool_), shut)
        if not len(broken):
            break
        shut[broken] = True
    units = bounded(game, alive, shut, game.counted(alive, shut))[: len(possible.values)]
    return Histogram.from_pairs(possible.groups, possible.values, units, len(possible), possible.unit)
