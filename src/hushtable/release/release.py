"""Release: the verified result that users hold."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import pyarrow as pa

from hushtable.algorithms.base import Partition, Problem
from hushtable.arrays import BoolArray, IntArray
from hushtable.errors import PrivacyLeakWarning, UsageError, did_you_mean
from hushtable.io.frames import like
from hushtable.models.compose import AllOf
from hushtable.registry import attacks, measures, templates
from hushtable.release.comparison import RowComparison
from hushtable.release.evidence import summary_of
from hushtable.release.recode import Recoded
from hushtable.release.verify import Verification
from hushtable.table.encoded import EncodedTable
from hushtable.table.reference import Reference
from hushtable.utility.summary import measure_all

if TYPE_CHECKING:
    from hushtable.release.explain.explanation import Explanation
    from hushtable.release.price import GuardPrice
    from hushtable.risk.before_after import BeforeAfter, RiskSummary

__all__ = ["Release", "title_of"]


@dataclass(frozen=True, repr=False)
class Release:
    """A table that passed the verifier, and how it came about.

    Attributes
    ----------
    table : pyarrow.Table
        What is published: rows sorted by all their cells, no identifiers.
    policy : mapping
        The policy it was made under.
    verification : Verification
        What every model achieved, recomputed from the published cells.

    Examples
    --------
    >>> import hushtable as ht
    >>> people = pa.table({"age": [30, 31, 52, 53], "disease": ["flu", "HIV", "flu", "cold"]})
    >>> policy = ht.Policy(quasi=["age"], sensitive=["disease"], models=[ht.KAnonymity(k=2)])
    >>> release = ht.anonymize(people, policy)
    >>> release.frame["age"].to_pylist()
    ['[30, 31]', '[30, 31]', '[52, 53]', '[52, 53]']
    >>> release.verify().ok
    True
    """

    table: pa.Table
    policy: Mapping[str, Any]
    verification: Verification
    problem: Problem
    recoded: Recoded
    partition: Partition
    source: Any = None
    source_rows: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    verifier: Callable[[Release], Verification] | None = None
    linked: Callable[[Release], tuple[pa.Table, pa.Table]] | None = None
    rerun: Callable[[Mapping[str, Any]], Release] | None = None
    reguard: Callable[[Sequence[str]], Release] | None = None

    @property
    def encoded(self) -> EncodedTable:
        """The encoded input."""
        return self.problem.table

    @property
    def model(self) -> AllOf:
        """The models, bound to their columns."""
        return self.problem.model

    @property
    def reference(self) -> Reference:
        """What models compare classes with."""
        return self.problem.reference

    @cached_property
    def frame(self) -> Any:
        """The published table as the same kind of DataFrame that was given."""
        return like(self.table, self.source, self._as_given())

    def _as_given(self) -> list[str]:
        """Columns that are published as they are, in the type that they were given in."""
        coarser = {c.name for c in self.encoded.quasi}
        return [name for name in self.table.column_names if name not in coarser]

    @property
    def kept(self) -> BoolArray:
        """Which input rows were released, in input order."""
        return np.asarray(self.recoded.labels[: self.encoded.n_sample] >= 0)

    @property
    def n_suppressed(self) -> int:
        """Input rows that were left out."""
        return self.encoded.n_sample - self.n_released

    @property
    def n_released(self) -> int:
        """Input rows that are published; counterfeits are none."""
        return int(np.count_nonzero(self.source_rows >= 0))

    @property
    def may_have_counterfeits(self) -> bool:
        """Whether its algorithm may publish rows that are nobody's, whether it did or not."""
        return self.recoded.numbers is not None

    def codes_of(self, column: str) -> IntArray:
        """Return the codes of a sensitive column, row by row of the published table.

        Where sensitive values are apart from their people, those of the row's own person: of the same group.
        """
        codes = np.asarray(next(c.codes for c in self.encoded.sensitive if c.name == column), dtype=np.int64)
        if self.recoded.counterfeits is not None:
            # they are numbered from -1 downwards, so they stand last and in reverse
            codes = np.concatenate([codes, self.recoded.counterfeits.codes[column][::-1]])
        return codes[self.source_rows]

    @cached_property
    def groups(self) -> Any:
        """One row per class: its published cells, its size, and its score under every model."""
        shown, first = np.unique(self.verification.labels[: self.table.num_rows], return_index=True)
        order = np.argsort(first, kind="stable")
        take = pa.array(first[order])
        shown_cells = [c.name for c in self.encoded.quasi] if self.linked is None else self.table.column_names[-1:]
        columns = {name: self.table.column(name).take(take) for name in shown_cells}
        stats = self.verification.stats.take(shown[order])
        columns["people"] = pa.array(stats.sizes)
        for member in self.model.members:
            columns[title_of(member)] = pa.array(member.score(stats, self.reference))
        return like(pa.table(columns), self.source)

    @cached_property
    def space(self) -> Any:
        """Every solution that the algorithm looked at, the best first: levels, whether it fits, cost, suppression.

        Empty for algorithms that do not search a space of solutions.
        """
        return like(pa.table({name: pa.array(column) for name, column in self.partition.space.items()}), self.source)

    def apply(self, levels: Mapping[str, int]) -> Release:
        """Return the release of another solution: every quasi-identifier at the level given, verified like any other.

        Parameters
        ----------
        levels : mapping of str to int
            As in a row of ``space``; quasi-identifiers that are left out are searched as before.

        Raises
        ------
        IncompatibleError
            If the algorithm has no levels that could be fixed.
        NotFound
            If that solution does not satisfy the models.
        """
        if self.rerun is None:
            raise UsageError("This release does not know how it was made.", code="no-plan")
        return self.rerun({"fixed": dict(levels)})

    @property
    def guards(self) -> tuple[str, ...]:
        """The names of the guards that it was made with."""
        from hushtable.release.price import guard_names

        return guard_names(self.policy)

    def with_guards(self, names: Sequence[str]) -> Release:
        """Return the release with these of its guards only; with none of them where the list is empty.

        Raises
        ------
        UsageError
            If it does not know how it was made, or has no such guard.
        """
        if self.reguard is None:
            raise UsageError("This release does not know how it was made.", code="no-plan")
        unknown = [name for name in names if name not in self.guards]
        if unknown:
            raise UsageError(
                f"The release has no guard {unknown[0]!r}.", code="unknown-guard",
                hint=did_you_mean(unknown[0], self.guards) or "It has none.",
            )  # fmt: skip
        return self.reguard(names)

    def price(self, measures: Sequence[str] | None = None) -> GuardPrice:
        """Tell what the guards cost in utility, next to what the attacks that they answer gain without them.

        Parameters
        ----------
        measures : sequence of str, optional
            Utility measures by name; a few cheap ones where left out.

        Examples
        --------
        >>> import hushtable as ht
        >>> people = pa.table({"age": list(range(20, 60)), "pay": list(range(40))})
        >>> policy = ht.Policy(quasi=["age"], sensitive=["pay"], models=[ht.KAnonymity(k=2)], guard=["downcoding"])
        >>> found = ht.anonymize(people, policy).price(["ncp"])
        >>> found.guarded.measures["ncp"] > found.without.measures["ncp"]
        True
        >>> found.guarded.attacks["downcoding"].rate < found.without.attacks["downcoding"].rate
        True
        """
        from hushtable.release.price import guard_price

        return guard_price(self, measures)

    @cached_property
    def linked_frames(self) -> tuple[Any, Any]:
        """People and sensitive values as two tables, linked by the number of their group alone.

        In ``table`` and ``frame`` they stand beside each other, in an order that tells nothing: which of a group's
        values is whose is not published.

        Raises
        ------
        UsageError
            If the release is a single table: only bucketization (anatomy) keeps the two apart.
        """
        if self.linked is None:
            raise UsageError("This release is one table, not two linked ones.", hint="Use 'frame'.")
        people, values = self.linked(self)
        return like(people, self.source), like(values, self.source)

    def verify(self) -> Verification:
        """Recompute the classes from the published cells and judge them again; raise if a model is violated."""
        verification = self.verifier(self) if self.verifier is not None else self.verification
        verification.raise_if_violated()
        return verification

    def aligned(self) -> Any:
        """The released rows in input order, for modelling inside the house only.

        The order links rows to people, so this warns, and ``save`` never writes it. Suppressed rows are absent;
        ``kept`` tells which.
        """
        warnings.warn(
            "aligned() keeps the input's row order, which links every row to its person. Do not let it leave.",
            PrivacyLeakWarning,
            stacklevel=2,
        )
        back = np.argsort(self.source_rows, kind="stable")[int(np.count_nonzero(self.source_rows < 0)) :]
        return like(self.table.take(pa.array(back)), self.source, self._as_given())

    def comparison(self) -> RowComparison:
        """The release beside its original, as utility measures see it."""
        return RowComparison(
            table=self.encoded,
            labels=self.recoded.labels[: self.encoded.n_sample],
            cells=self.recoded.cells,
            k=self.model.min_group_size(),
            seed=int(self.policy.get("seed", 0)),
            linked=self.linked is None,
        )

    def measure(self, name: str, **parameters: Any) -> float:
        """Compute one utility measure by name; ``hushtable measures`` lists them."""
        return float(measures.build(name, parameters).compute(self.comparison()))

    def measures(self, names: Sequence[str] | None = None) -> dict[str, float]:
        """Compute several utility measures: those asked for, or the cheap ones."""
        return measure_all(self.comparison(), names)

    @overload
    def risk(self, name: None = None, **parameters: Any) -> RiskSummary: ...

    @overload
    def risk(self, name: str, **parameters: Any) -> BeforeAfter: ...

    def risk(self, name: str | None = None, **parameters: Any) -> RiskSummary | BeforeAfter:
        """Assess how exposed people are, in the raw quasi-identifiers and in the published classes.

        Parameters
        ----------
        name : str, optional
            One risk; ``hushtable risks`` lists them. Left out: all that are part of a summary.
        **parameters
            Of that risk; for a summary, each is given to the risks that have it (``threshold``, ``fraction``, ...).

        Returns
        -------
        BeforeAfter or RiskSummary
            With ``before``, ``after`` and ``as_dict``; no value of a record.

        Examples
        --------
        >>> import hushtable as ht
        >>> people = pa.table({"age": [30, 31, 52, 53], "disease": ["flu", "HIV", "flu", "cold"]})
        >>> policy = ht.Policy(quasi=["age"], sensitive=["disease"], models=[ht.KAnonymity(k=2)])
        >>> found = ht.anonymize(people, policy).risk("prosecutor", threshold=0.5)
        >>> found.before.highest, found.after.highest, found.after.at_risk
        (1.0, 0.5, 0.0)
        """
        from hushtable.release.exposure import Exposure
        from hushtable.risk.before_after import risk_of, risk_summary

        before, after = Exposure.raw(self.encoded), Exposure.published(self)
        if name is None:
            return risk_summary(parameters, before, after)
        return risk_of(name, parameters, before, after)

    def attack(self, name: str, **parameters: Any) -> Any:
        """Play an adversary of the literature against this release; ``hushtable attack --list`` names them.

        Returns
        -------
        AttackResult
            Success rate with confidence interval, baseline and remedy; no value of a record.
        """
        return attacks.build(name, parameters).attack(self)

    def explain(self, row: int) -> Explanation:
        """Say why a record was generalised or suppressed, in words, without showing anybody's values.

        Parameters
        ----------
        row : int
            The record's number in the input, from 0.

        Examples
        --------
        >>> import hushtable as ht
        >>> people = pa.table({"age": [30, 31, 52, 53], "disease": ["flu", "HIV", "flu", "cold"]})
        >>> policy = ht.Policy(quasi=["age"], sensitive=["disease"], models=[ht.KAnonymity(k=2)])
        >>> print(ht.anonymize(people, policy).explain(0))
        Row 0 is in a class of 2 people.
        What the class achieves: k-anonymity (k=2): 2, needed >= 2.
        'age' is published as a range of 2 of 4 values. Cut in two anywhere along 'age', a part of its class would break
        a model; cut most evenly, one part would have 1 person: k-anonymity (k=2) needs >= 2 and would have 1.
        """
        from hushtable.release.explain.explain import explain

        return explain(self, row)

    def report(
        self,
        path: Any,
        template: str = "general",
        *,
        attacks: bool | Sequence[str] = True,
        labels: bool = False,
        progress: Callable[[float, str], None] | None = None,
        **parameters: Any,
    ) -> Any:
        """Write the evidence file: one offline HTML page, and the same as JSON beside it.

        Parameters
        ----------
        path : path
            The HTML file; the JSON file has the same name with ``.json``.
        template : str
            Whose questions come first: ``general``, ``wp216``, ``ema``, ``nist-800-188``, or a plug-in's.
        attacks : bool or sequence of str
            All attacks that can be run, none, or those named.
        labels : bool
            Name values that enough records share. Left out, no value of a person appears anywhere.
        progress : callable, optional
            Called with (share done, what is being done); may raise ``Cancelled``.
        **parameters
            Of the template: ``threshold``, ``comparison``.

        Returns
        -------
        Report
            What the files say, as data.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import hushtable as ht
        >>> people = pa.table({"age": [30, 31, 52, 53], "disease": ["flu", "HIV", "flu", "cold"]})
        >>> policy = ht.Policy(quasi=["age"], sensitive=["disease"], models=[ht.KAnonymity(k=2)])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     report = ht.anonymize(people, policy).report(pathlib.Path(folder, "evidence.html"), attacks=False)
        ...     sorted(file.name for file in pathlib.Path(folder).iterdir())
        ['evidence.html', 'evidence.json']
        >>> report.summary.ok
        True
        """
        chosen = templates.build(template, parameters)
        return chosen.write(self, path, attacks=attacks, labels=labels, progress=progress)

    def summary(self) -> dict[str, Any]:
        """What was done, as data: sizes, what every model achieved, what it cost. No value of a record."""
        return summary_of(
            self.encoded,
            self.table.column_names,
            self.n_released,
            self.policy,
            self.verification,
            self.measures(),
            self.partition,
        )

    def save(self, folder: Any, *, format: str = "csv", overwrite: bool = False) -> Any:
        """Write the release, its policy and ``release.json`` into a folder, all or nothing.

        What verifying and measuring it later needs, and the release must not tell, is written into the private
        companion, the folder ``<folder>.private`` next to it: keep that one.

        Parameters
        ----------
        folder : path
        format : {"csv", "parquet"}
        overwrite : bool
            Whether an existing folder may be replaced.
        """
        from hushtable.release.files import save_release

        return save_release(self, folder, format=format, overwrite=overwrite)

    def __repr__(self) -> str:
        from hushtable.release.display import release_text

        return release_text(self)

    def _repr_html_(self) -> str:
        from hushtable.release.display import release_html

        return release_html(self)


def title_of(model: Any) -> str:
    """A model's name, with its columns where it has some: the heading of its scores."""
    on = getattr(model, "on", None)
    return f"{model.name} ({on if isinstance(on, str) else '+'.join(on)})" if on else model.name
