"""Confidence of a success rate: Wilson's interval.

References
----------
E. Wilson, "Probable inference, the law of succession, and statistical inference", 1927.
"""

from __future__ import annotations

import math

__all__ = ["Z95", "wilson"]

Z95 = 1.959963984540054
"""The standard normal quantile of a two-sided 95% interval."""


def wilson(successes: float, targets: int, z: float = Z95) -> tuple[float, float]:
    """Return the interval that contains the true rate in 95% of repetitions; [0, 1] if nothing was tried.

    Examples
    --------
    >>> [round(end, 4) for end in wilson(0, 10)]
    [0.0, 0.2775]
    >>> [round(end, 4) for end in wilson(5, 10)]
    [0.2366, 0.7634]
    >>> wilson(0, 0)
    (0.0, 1.0)
    """
    if targets == 0:
        return 0.0, 1.0
    rate = successes / targets
    scale = 1.0 + z * z / targets
    centre = (rate + z * z / (2 * targets)) / scale
    half = z / scale * math.sqrt(rate * (1.0 - rate) / targets + z * z / (4.0 * targets * targets))
    # rounding must not push a certain end past the rate itself
    return max(min(centre - half, rate), 0.0), min(max(centre + half, rate), 1.0)
