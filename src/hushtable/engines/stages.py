"""The progress of a run: its stages, as shares of the total time."""

from __future__ import annotations

# where the stages around the algorithm begin, as shares of a run's time (measured on 300,000 rows)
_STAGES = {
    "reading": 0.0,
    "ranking": 0.2,
    "encoding": 0.25,
    "recoding": 0.65,
    "publishing": 0.72,
    "sorting": 0.74,
    "verifying": 0.78,
    "writing": 0.82,
    "comparing": 0.82,
    "measuring": 0.9,
}
_ALGORITHM = (0.45, 0.65)
# work on a finished release, which reports its own share
_AFTERWARDS = ("assessing", "attacking", "measuring:", "training")


def share_of_run(share: float, what: str) -> float:
    """Return the share of a whole run that is done, given the share of the algorithm's work.

    Examples
    --------
    >>> share_of_run(0.0, "encoding"), share_of_run(0.5, "partitioning"), share_of_run(1.0, "writing")
    (0.25, 0.55, 0.82)
    >>> round(share_of_run(0.5, "attacking: linkage"), 2)
    0.91
    """
    begin, end = (_STAGES["comparing"], 1.0) if what.startswith(_AFTERWARDS) else _ALGORITHM
    return _STAGES.get(what, begin + (end - begin) * min(max(share, 0.0), 1.0))
