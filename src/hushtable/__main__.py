"""``python -m hushtable``: the command line, of the Python that runs it."""

from __future__ import annotations

from hushtable.cli.main import main

if __name__ == "__main__":
    main()
