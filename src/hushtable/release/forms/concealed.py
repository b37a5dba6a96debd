"""Sets of crowds: each record publishes the values of its own crowd, so equal records are rare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hushtable.release.forms.sets import Sets


@dataclass(frozen=True)
class Concealed(Sets):
    """Publishes, for each record, the set of the values in its crowd.

    Examples
    --------
    >>> import numpy as np
    >>> from hushtable.utility.example import example
    >>> age = example().table.quasi[0]
    >>> Concealed().from_records(age, np.array([0, 1, 1, 3]), np.array([0, 2, 4])).labels().to_pylist()
    ['{30, 31}', '{31, 53}']
    """

    name: ClassVar[str] = "concealed"
    in_words: ClassVar[str] = "sets of values, one for each record"
    follows: ClassVar[str] = "concealed"
    own_records: ClassVar[bool] = True
    can_widen: ClassVar[bool] = False
