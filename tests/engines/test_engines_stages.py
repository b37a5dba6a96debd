from __future__ import annotations

from hushtable.engines.stages import share_of_run


def test_stages_follow_each_other():
    stages = [(0.0, "reading"), (0.0, "encoding"), (0.0, "x"), (0.4, "x"), (1.0, "x"), (1.0, "recoding")]
    stages += [(1.0, "publishing"), (1.0, "verifying"), (1.0, "writing")]
    shares = [share_of_run(*stage) for stage in stages]
    assert shares == sorted(shares)
