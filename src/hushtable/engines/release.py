"""Release: the verified result of a run, and its methods."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, Literal, overload

import numpy as np
import pyarrow as pa

from hushtable.errors import IncompatibleError, PrivacyLeakWarning, UsageError, did_you_mean
from hushtable.io.frames import indexed_like
from hushtable.params import typed
from hushtable.registry import measures, templates
from hushtable.release.comparison import Comparison, RowComparison
from hushtable.release.evidence import summary_of
from hushtable.release.files import save_release
from hushtable.release.plan import Plan
from hushtable.release.released import OtherColumns, Released
from hushtable.release.verify import Verification
from hushtable.utility.base import Measure, Measured
from hushtable.utility.summary import measure_all, summary_measures

# a plain run does not assess, attack, explain or price: the methods that do import what they need
if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from typing_extensions import TypeVar

    from hushtable.attacks.base import Attack, AttackResult
    from hushtable.engines.price import GuardPrice
    from hushtable.engines.verdict import Verdict
    from hushtable.release.cautions import Caution
    from hushtable.release.explain.explanation import Explanation
    from hushtable.release.exposure import Exposure
    from hushtable.risk.base import Risk
    from hushtable.risk.before_after import BeforeAfter, RiskSummary

    F = TypeVar("F", default=Any)
    """The kind of DataFrame of the input, which is also that of the output."""
else:
    from typing import TypeVar

    F = TypeVar("F")


@dataclass(frozen=True, repr=False)
class Release(Released, Generic[F]):
    """A table that passed the verifier, and how it was made.

    It is plain data: it can be pickled, copied, and opened again from the folder that it was saved to
    (``hushtable.open_release``). Methods that need the original read it on demand.

    Attributes
    ----------
    table : pyarrow.Table
        The published table: rows sorted by all their cells, no identifiers.
    policy : mapping
        The policy of the run.
    verification : Verification
        What every model achieved, recomputed from the published cells.

    Examples
    --------
    >>> import hushtable as ht
    >>> people = pa.table({"age": [30, 31, 52, 53], "disease": ["flu", "HIV", "flu", "cold"]})
    >>> policy = ht.Policy(quasi=["age"], sensitive=["disease"], models=[ht.KAnonymity(k=2)])
    >>> release = ht.anonymize(people, policy)
    >>> release.frame["age"].to_pylist()
    ['< 50', '< 50', '>= 50', '>= 50']
    >>> release.verify().ok
    True
    """

    if TYPE_CHECKING:

        @cached_property
        def frame(self) -> F:
            """The published table as the same kind of DataFrame as the input."""

        @cached_property
        def groups(self) -> F:
            """One row per class: its published cells, its size, and its score under every model."""

    @cached_property
    def space(self) -> F:
        """Every solution that the algorithm examined, best first: levels, whether it fits, cost, suppression.

        Empty for algorithms that do not search a space of solutions.
        """
        found: F = self.like(pa.table({name: pa.array(column) for name, column in self.partition.space.items()}))
        return found

    @typed
    def apply(self, levels: Mapping[str, int]) -> Release[F]:
        """Return the release of another solution: every quasi-identifier at the given level, verified like any other.

        Parameters
        ----------
        levels : mapping of str to int
            As in a row of ``space``; omitted quasi-identifiers are searched as before.

        Raises
        ------
        IncompatibleError
            If the algorithm has no levels that could be fixed.
        NotFound
            If that solution does not satisfy the models.
        """
        algorithm = self.plan.algorithm
        if "fixed" not in {p.name for p in algorithm.params()}:
            raise IncompatibleError(
                f"{algorithm.name} does not search a space of levels.",
                hint="Use an algorithm that generalizes whole columns, such as optimal.",
            )
        changed = algorithm.build({**algorithm.values(), "fixed": dict(levels)})
        return self._again(self.plan.changed(algorithm=changed))

    def _again(self, plan: Plan) -> Release[F]:
        """Run another plan on the original."""
        from hushtable.engines import local  # it makes releases, so it imports this module

        if not self.repeatable:
            raise UsageError(
                "The release is an addition to another one, and its original alone does not reproduce it.",
                code="no-plan",
                hint="Publish the batch again with hushtable.increment.",
            )
        return local.run(self.original(), plan, source=self.source)

    @typed
    def with_guards(self, names: Sequence[str]) -> Release[F]:
        """Return the release with only these of its guards, or with none if the list is empty.

        Raises
        ------
        UsageError
            If it is unknown how the release was made, or it has no such guard.
        """
        unknown = [name for name in names if name not in self.guards]
        if unknown:
            raise UsageError(
                f"The release has no guard {unknown[0]!r}.", code="unknown-guard",
                hint=did_you_mean(unknown[0], self.guards) or "It has none.",
            )  # fmt: skip
        return self._again(self.plan.changed(guards=[guard for guard in self.plan.guards if guard.name in names]))

    @typed
    def price(self, measures: Sequence[str] | None = None) -> GuardPrice:
        """Return what guards and wider cells cost in utility, compared with what attacks gain without them.

        Parameters
        ----------
        measures : sequence of str, optional
            Utility measures by name. Defaults to a few cheap ones.

        Examples
        --------
        >>> import hushtable as ht
        >>> people = pa.table({"age": list(range(20, 60)), "pay": list(range(40))})
        >>> policy = ht.Policy(quasi=["age"], sensitive=["pay"], models=[ht.KAnonymity(k=2)])
        >>> found = ht.anonymize(people, policy).price(["ncp"])
        >>> found.guarded.attacks["downcoding"].rate < found.tightest.attacks["downcoding"].rate
        True
        """
        from hushtable.engines.price import guard_price

        return guard_price(self, measures)

    @cached_property
    def verdict(self) -> Verdict:
        """Judge how useful the release is, and which settings cost most.

        The result depends on the original, so keep it private.

        Examples
        --------
        >>> import hushtable as ht
        >>> people = pa.table({"age": list(range(20, 60)), "sex": ["f", "m"] * 20})
        >>> policy = ht.Policy(quasi=["age", "sex"], models=[ht.KAnonymity(k=4)])
        >>> ht.anonymize(people, policy).verdict.grade
        'useful'
        """
        from hushtable.engines.verdict import verdict_of

        return verdict_of(self)

    @cached_property
    def cautions(self) -> tuple[Caution, ...]:
        """What the release does not protect: read this before you publish it.

        For tables with more than two million records, values of the original are not examined. An opened release
        needs its original or its private companion.

        Examples
        --------
        >>> import hushtable as ht
        >>> people = pa.table({"age": list(range(20, 60)), "illness": ["flu", "cold"] * 20})
        >>> policy = ht.Policy(quasi=["age"], sensitive=["illness"], models=[ht.KAnonymity(k=4)])
        >>> [(caution.code, caution.where) for caution in ht.anonymize(people, policy).cautions]
        [('unprotected', 'illness')]
        """
        from hushtable.engines.verdict import LARGE
        from hushtable.release.cautions import of_release

        return of_release(self, None if self.source is None or self.records > LARGE else self.original())

    @cached_property
    def linked_frames(self) -> tuple[F, F]:
        """People and sensitive values as two tables, linked only by the number of their group.

        In ``table`` and ``frame`` they are in the same rows, in an order that reveals nothing: which of a group's
        values belongs to whom is not published.

        Raises
        ------
        UsageError
            If the release is a single table: only bucketization (anatomy) separates the two.
        """
        if not self.apart:
            raise UsageError("This release is one table, not two linked tables.", hint="Use 'frame'.")
        people, values = self.halves()
        return self.like(people), self.like(values)

    def verify(self) -> Verification:
        """Recompute the classes from the published cells and judge them again; raise if a model is violated."""
        verification = self.origin.verify(lambda: self.table, self.plan)
        verification.raise_if_violated()
        return verification

    def aligned(self) -> F:
        """The released rows in input order, for modeling inside your organization only.

        The order links rows to people, so this warns, and ``save`` never writes it. Suppressed rows are absent;
        ``kept`` says which rows are present. A pandas frame has the input's index, so that other columns can be joined.
        """
        warnings.warn(
            "aligned() keeps the input's row order, which links every row to its person. Do not publish it.",
            PrivacyLeakWarning,
            stacklevel=2,
        )
        back = np.argsort(self.source_rows, kind="stable")[int(np.count_nonzero(self.source_rows < 0)) :]
        found: F = indexed_like(self.like(self.table.take(pa.array(back))), self.source, self.kept)
        return found

    def comparison(self) -> Comparison:
        """The release with its original, as utility measures see it."""
        found = self.origin.comparison(self.plan)
        if not isinstance(found, RowComparison):
            return found
        changed = self.changes if self.plan.table.treated else None
        return replace(found, others=OtherColumns(self), changes=changed)

    def measure(self, name: str | Measure | type[Measure], **parameters: Any) -> Measured:
        """Compute one utility measure; ``hushtable measures`` lists them.

        Parameters
        ----------
        name : str or Measure
            Its name, or an object, possibly of your own class.
        **parameters
            Parameters of a measure given by name.

        Returns
        -------
        Measured
            A float. If it depends on more than the release, it says on what: ``0.78 (predicting 'income' with a
            decision tree of depth at most 10)``.

        Examples
        --------
        >>> import hushtable as ht
        >>> people = pa.table({"age": [30, 31, 52, 53], "disease": ["flu", "HIV", "flu", "cold"]})
        >>> policy = ht.Policy(quasi=["age"], sensitive=["disease"], models=[ht.KAnonymity(k=2)])
        >>> release = ht.anonymize(people, policy)
        >>> release.measure("discernibility"), release.measure(ht.Discernibility())
        (8.0, 8.0)
        """
        measure = measures.chosen(name, parameters)
        known = self.origin.measured
        if isinstance(name, str) and name in known and not parameters:
            return Measured(known[name])
        comparison = self.comparison()
        return Measured(float(measure.compute(comparison)), measure.about(comparison))

    @typed
    def measures(self, names: str | Sequence[str] | None = None) -> dict[str, float]:
        """Compute several utility measures by name: the requested ones, or the cheap ones."""
        known = self.origin.measured
        wanted = summary_measures() if names is None else [names] if isinstance(names, str) else list(names)
        rest = [name for name in wanted if name not in known]
        found = {**known, **(measure_all(self.comparison(), rest) if rest else {})}
        return {name: found[name] for name in wanted}

    def exposures(self) -> tuple[Exposure, Exposure]:
        """The classes of the original quasi-identifiers and of the published table, for risks."""
        return self.raw_exposure(), self.origin.after(lambda: self.table)

    @overload
    def risk(self, name: None = None, **parameters: Any) -> RiskSummary: ...

    @overload
    def risk(self, name: str | Risk, **parameters: Any) -> BeforeAfter: ...

    @typed
    def risk(self, name: str | Risk | None = None, **parameters: Any) -> RiskSummary | BeforeAfter:
        """Assess the risks of the original quasi-identifiers and of the published classes.

        Parameters
        ----------
        name : str or Risk, optional
            One risk, by name (``hushtable risks`` lists them) or as an object. Defaults to all of a summary.
        **parameters
            Parameters of that risk; in a summary, of all risks that have them (``threshold``, ``fraction``, ...).

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
        from hushtable.risk.before_after import risk_of, risk_summary

        before, after = self.exposures()
        if name is None:
            return risk_summary(parameters, before, after)
        return risk_of(name, parameters, before, after)

    @typed
    def attack(self, name: str | Attack, *, sample: int | None = None, **parameters: Any) -> AttackResult:
        """Run an attack against this release; ``hushtable attack --list`` names them.

        Parameters
        ----------
        name : str or Attack
            Its name, or an object, possibly of your own class.
            sample : int, optional
                For releases of Spark: approximate number of records to attack.
            **parameters
                Parameters of the attack.

        Returns
        -------
        AttackResult
            Success rate with confidence interval, baseline and remedy; no value of a record.
        """
        from hushtable.attacks.play import play

        return play(self, name, parameters, sample=sample)

    def explain(self, row: int) -> Explanation:
        """Explain why a record was generalized or suppressed, in words, without showing anyone's values.

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
        The class achieves: k-anonymity (k=2): 2 (required: >= 2).
        'age' is published as a region of 2 of 4 values. Cut in two anywhere along 'age', a part of its class would
        violate a model; cut most evenly, one part would have 1 person: k-anonymity (k=2) requires >= 2, but
        would have 1.
        """
        from hushtable.release.explain.explain import explain

        return explain(self, row)

    @typed
    def report(
        self,
        path: str | os.PathLike[str],
        template: str = "general",
        *,
        attacks: bool | Sequence[str] = True,
        labels: bool = False,
        about: Any = None,
        progress: Callable[[float, str], None] | None = None,
        **parameters: Any,
    ) -> Any:
        """Write the evidence file: one offline HTML page, and the same as JSON next to it.

        Parameters
        ----------
        path : path
            The HTML file; the JSON file has the same name with ``.json``.
        template : str
            The audience: ``general``, ``wp216``, ``ema``, ``hipaa``, ``ehds``, ``iso-27559``, ``nist-800-188``, or a
            template of a plug-in.
        attacks : bool or sequence of str
            All attacks that can be run, none, or those named.
        labels : bool
            Whether to name values that enough records share. By default, no value of a person appears anywhere.
        about : About, mapping or path, optional
            Dataset, purpose, organisation, signer and recipients: as data, or a YAML file.
        progress : callable, optional
            Called with (share done, what is being done); may raise ``Cancelled``.
        **parameters
            Parameters of the template: ``threshold``, ``comparison``.

        Returns
        -------
        Report
            The contents of the files, as data.

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
        return chosen.write(self, path, attacks=attacks, labels=labels, about=about, progress=progress)

    @typed
    def sample(self, seed: int = 0, rows: int | None = None, where: Sequence[str] = ()) -> F:
        """Draw a table with the original's columns and types from the published data only.

        Quasi-identifiers are drawn; other columns stay with their published row. Counts are assigned within each class,
        so they stay exact; draws from other cells are uniform. A row that matches a person does so by chance, and a
        sample cannot weaken the release.

        Parameters
        ----------
        seed : int
            The same seed gives the same rows.
        rows : int, optional
            Defaults to the number of published rows. Fewer are a random choice; for more, at most 100 times as many,
            everything is drawn several times.
        where : sequence of str
            Rules that all rows must satisfy: ``"age < 15 -> marital_status = N"``. Rows that break one are redrawn.

        Returns
        -------
        DataFrame
            Of the same kind as the input; it never has identifiers.

        Raises
        ------
        IncompatibleError
            If the published cells do not show what to draw from.
        UsageError
            If a rule cannot be satisfied, or too many rows are requested.
        DataError, VerificationError
            If the release was opened from files, and its table is not the published one.

        Examples
        --------
        >>> import hushtable as ht
        >>> people = pa.table({"age": [30, 31, 52, 53], "job": ["a", "b", "b", "b"], "pay": [1, 2, 3, 4]})
        >>> policy = ht.Policy(quasi=["age", "job"], sensitive=["pay"], models=[ht.KAnonymity(k=2)], cells="counts")
        >>> drawn = ht.anonymize(people, policy).sample(seed=1)
        >>> sorted(drawn["age"].to_pylist()), drawn["job"].to_pylist().count("b")
        ([30, 31, 52, 53], 3)
        """
        from hushtable.release.sample.opened import sample_release

        found: F = self.like(sample_release(self, seed=seed, rows=rows, where=where))
        return found

    @typed
    def condense(self, columns: Sequence[str] | None = None) -> F:
        """Draw numeric quasi-identifiers from the mean and covariance of each class; needs the original.

        Drawn rows depend on statistics of classes that satisfy the models, and are not k-anonymous themselves. Other
        quasi-identifiers are drawn from their cells. The local secret decides, so the same release gives the same rows.

        Parameters
        ----------
        columns : sequence of str, optional
            Defaults to all numeric quasi-identifiers.

        Raises
        ------
        IncompatibleError
            If classes are too small, or are not groups of this table's people.
        DataError
            If numbers are missing or too large.

        Examples
        --------
        >>> import hushtable as ht
        >>> people = pa.table({"age": [30, 30, 30, 52, 56, 60], "ill": ["flu", "cold", "flu", "HIV", "flu", "cold"]})
        >>> policy = ht.Policy(quasi=["age"], sensitive=["ill"], models=[ht.KAnonymity(k=3)], algorithm="mdav")
        >>> ages = ht.anonymize(people, policy).condense()["age"].to_pylist()
        >>> ages[:3], min(ages[3:]) >= 50, max(ages) <= 62
        ([30, 30, 30], True, True)
        """
        from hushtable.release.sample.condense import condense_release

        found: F = self.like(condense_release(self, columns=columns))
        return found

    @typed
    def plot(
        self,
        kind: Literal["loss", "classes", "partition"] = "loss",
        ax: Axes | None = None,
        columns: Sequence[str] | None = None,
    ) -> Axes:
        """Draw the loss of each quasi-identifier, the class sizes, or the classes over two columns.

        Parameters
        ----------
        kind : {"loss", "classes", "partition"}
            NCP of each column, from 0 (exact) to 1 (nothing left); people by the size of their class; or a box for each
            class over the original records as points, which must not be published.
        ax : matplotlib axes, optional
            Defaults to those of a new figure.
        columns : sequence of str, optional
            The two quasi-identifiers of a partition. Defaults to the first two.

        Returns
        -------
        matplotlib axes
        """
        from hushtable.engines.plot import plot

        return plot(self, kind, ax, columns)

    def summary(self) -> dict[str, Any]:
        """Return a summary as data: sizes, what every model achieved, what it cost. No value of a record."""
        # a large release is not read again for results that are already known
        return dict(self.origin.summary) if self.origin.summary else summary_of(self, self.measures())

    @typed
    def save(
        self,
        folder: str | os.PathLike[str],
        *,
        format: str = "csv",
        overwrite: bool = False,
        parts: bool | None = None,
    ) -> Any:
        """Write the release, its policy and ``release.json`` into a folder, all or nothing.

        What later examinations need but the release must not reveal is written into the private companion, the folder
        ``<folder>.private`` next to it. Keep it, and do not publish it.

        Parameters
        ----------
        folder : path
            For releases of Spark, a folder that driver and executors share.
        format : {"csv", "parquet"}
        overwrite : bool
            Whether an existing folder may be replaced.
        parts : bool, optional
            For Spark: whether ``release.parquet`` is a folder with one file for each partition, written by the
            executors in parallel, instead of one file. Defaults to true from a million rows on. CSV is always one file.
        """
        elsewhere = getattr(self.published, "save", None)
        if elsewhere is not None:
            return elsewhere(self, folder, format=format, overwrite=overwrite, parts=parts)
        if parts:
            raise UsageError("Only Spark writes a release in parts.", code="parts", hint="Remove 'parts'.")
        return save_release(self, folder, self.measures(), format=format, overwrite=overwrite)

    def unpersist(self) -> None:
        """Let Spark discard the published rows, if it caches them; the release cannot be used afterwards."""
        forget = getattr(self.published, "unpersist", None)
        if forget is not None:
            forget()

    def __repr__(self) -> str:
        from hushtable.release.display import release_text

        return release_text(self)

    def _repr_html_(self) -> str:
        from hushtable.release.display import release_html

        return release_html(self)
