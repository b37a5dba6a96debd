"""k-concealment: each person matches at least k published records, and each record at least k people.

The adversary knows everyone's quasi-identifiers, and knows that each person has exactly one record. A person and a
record are *consistent* if the record's cells cover the person. Consistency is not enough: if all other people can be
matched in only one way, a single record remains for a person, no matter how many cover them. So a pair counts only if
it is part of some perfect matching of all people with all records. k-concealment requires k such records for every
person, and k such people for every record.

Records in one class, with equal cells, are interchangeable, so a k-anonymous table is k-concealed. For algorithms
that make classes, this model checks their size. It is weaker than k-anonymity: no two records need to be equal. The
algorithm ``k-concealing`` takes advantage of this. In that case the verifier checks pairs, using the published cells
and the original: the pairs in a perfect matching follow from one such matching and the strongly connected components
of the directed graph it defines, in linear time.

The model has limits. Among k possible records, one may be more likely than the others: possible worlds are counted,
not weighted. (``k-concealing`` draws so that each of k records is equally likely, but the model does not see that.)
An adversary who knows which record belongs to one person learns more than with k-anonymity, because that may
determine other people's records, too. The model does not protect sensitive values: a person's k records may all have
the same one. Combine it with models that do: ``k-concealing`` accepts ``distinct-l``, algorithms that make classes
accept all.

When to use
-----------
With ``k-concealing``, if k-anonymity costs too much detail.

When not
--------
When recipients expect classes of k equal rows, or a law or contract requires k-anonymity. On its own if a sensitive
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
from hushtable.errors import Infeasible, counted
from hushtable.models.base import Monotone, PrivacyModel
from hushtable.params import AtLeast
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats


@dataclass(frozen=True)
class KConcealment(PrivacyModel):
    """Each person matches at least k records, and each record at least k people.

    Score: the number of possible people (or records); for a class of equal records, its size. Satisfied when >= k.

    Parameters
    ----------
    k : int
        Minimum number of possible records per person, and of possible people per record.

    Examples
    --------
    >>> groups = GroupStats.of(sizes=[2, 5])
    >>> KConcealment(k=3).satisfied(groups, Reference.of(7)).tolist()
    [False, True]
    """

    k: Annotated[int, AtLeast(2), "minimum number of possible records per person, and of people per record"]

    name: ClassVar[str] = "k-concealment"
    bounded_by: ClassVar[str] = "k"
    monotone: ClassVar[Monotone] = Monotone.ADD | Monotone.MERGE
    of_crowds: ClassVar[bool] = True

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
            f"k={self.k} but the table has {counted(round(people), 'person', 'people')}.",
            hint=f"Lower k to {int(people)} or less, or add records." if people >= 2 else "Add records.",
        )
