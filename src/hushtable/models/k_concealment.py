"""k-concealment: everybody may be any of k published records, and every record may be any of k people.

The adversary knows everybody's quasi-identifiers, and that the records are the people's, one each. A person and a
record are *consistent* if the record's cells cover the person. Being consistent is not enough: where all other people
can only be matched in one way, a person is left with a single record, however many cover them. So a pair counts only if
it is in some perfect matching of all people with all records. k-concealment asks for k such records for every person,
and k such people for every record.

Records of one class, with equal cells, can change places as they like, so a k-anonymous table is k-concealed, and under
algorithms that make classes this model judges their size. It asks for less than k-anonymity: no two records need be
equal. That is what the algorithm ``k-concealing`` makes use of. There, pairs are judged by the verifier: from the
published cells and the original, which pairs are in a perfect matching follows from one such matching and the strongly
connected components of the graph that it directs, in linear time.

What it does not promise. Of k possible records one may be likelier than the others: possible worlds are counted, not
weighed. (``k-concealing`` draws such that each of k records is equally likely, but the model does not see that.) An
adversary who knows which record is somebody's learns more than with k-anonymity: that may decide for others, too. Nor
does it promise anything about sensitive values: a person's k records may all have the same one. Under an algorithm that
makes classes it can be combined with models that do; ``k-concealing`` refuses these.

When to use
-----------
With ``k-concealing``, where k-anonymity costs too much detail.

When not
--------
Where recipients expect classes of k equal rows, or a law or contract says k-anonymity. On its own where a sensitive
column is published: a person's k records may all have the same value.

Cost
----
One comparison per class; with ``k-concealing``, the matching: seconds for 30,000 records.

References
----------
T. Tassa, A. Mazza, A. Gionis, "k-concealment: an alternative model of k-type anonymity", Transactions on Data Privacy
5, 2012. A. Gionis, A. Mazza, T. Tassa, "k-anonymization revisited", ICDE 2008.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from hushtable.arrays import FloatArray
from hushtable.errors import Infeasible
from hushtable.models.base import Monotone, PrivacyModel
from hushtable.params import AtLeast
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats

__all__ = ["KConcealment"]


@dataclass(frozen=True)
class KConcealment(PrivacyModel):
    """Everybody may be any of k records, and every record any of k people.

    Score: the people (or records) that are possible; of a class of equal records, its size. Satisfied when >= k.

    Parameters
    ----------
    k : int
        Smallest number of possible records of a person, and of possible people of a record.

    Examples
    --------
    >>> groups = GroupStats.of(sizes=[2, 5])
    >>> KConcealment(k=3).satisfied(groups, Reference.of(7)).tolist()
    [False, True]
    """

    k: Annotated[int, AtLeast(2), "smallest number of possible records of a person, and of people of a record"]

    name: ClassVar[str] = "k-concealment"
    monotone: ClassVar[Monotone] = Monotone.ADD | Monotone.MERGE
    of_crowds: ClassVar[bool] = True

    @property
    def bound(self) -> float:
        """Return k."""
        return self.k

    def score(self, groups: GroupStats, table: Reference) -> FloatArray:
        """People per group."""
        return groups.sizes

    def min_group_size(self) -> int:
        """Return k."""
        return self.k

    def infeasible(self, whole: GroupStats, table: Reference) -> Infeasible:
        """The table has fewer than k people."""
        people = table.people
        return Infeasible(
            f"k={self.k} but the table has {people:g} people.",
            hint=f"Lower k to {int(people)} or less, or add records." if people >= 2 else "Add records.",
        )
