"""``python -m hushtable.studio``: the same as ``hushtable studio``."""

from __future__ import annotations

import sys

from hushtable.cli.main import main

if __name__ == "__main__":
    main(["studio", *sys.argv[1:]])
