"""SQL as text: safely quoted names, and a check that queries only read.

The database sessions are read-only as well; this check explains a refusal before anything is opened, and ensures that a
query stays one query when it is embedded in another.
"""

from __future__ import annotations

import re

from hushtable.errors import UsageError

_READS = ("select", "with", "values", "from")

# tokens without syntax: comments, texts, quoted names and PostgreSQL's dollar quotes
_SKIPPED = re.compile(
    r"""--[^\n]*
    | /\*.*?\*/
    | (?<![A-Za-z0-9_])[eE]'(?:[^'\\]|''|\\.)*'
    | '(?:[^']|'')*'
    | "(?:[^"]|"")*"
    | (\$(?:[A-Za-z_][A-Za-z0-9_]*)?\$).*?\1""",
    re.VERBOSE | re.DOTALL,
)


def quoted(name: str) -> str:
    """Return a name quoted for SQL, whatever its characters.

    Examples
    --------
    >>> print(quoted('the "old" people'))
    "the ""old"" people"
    """
    return '"' + name.replace('"', '""') + '"'


def one_select(query: str) -> str:
    """Return the query without its terminator; refuse everything but a single query that reads.

    Raises
    ------
    UsageError

    Examples
    --------
    >>> one_select("SELECT ';' AS a; -- no more;")
    "SELECT ';' AS a"
    >>> one_select("SELECT 1; DROP TABLE people")
    Traceback (most recent call last):
    hushtable.errors.UsageError: The query is more than one statement. Give one SELECT.
    """
    if "\0" in query:
        raise _refused("contains a zero byte", "Remove it.")
    bare = _SKIPPED.sub(lambda found: (" " if found[0][0] in "-/" else "x") * len(found[0]), query)
    if re.search(r"['\"]|/\*|\*/", bare):
        raise _refused("has a quote or comment that does not end", "Close it.")
    end = len(bare.rstrip().rstrip(";").rstrip())
    bare = bare[:end]
    if ";" in bare:
        raise _refused("is more than one statement", "Give one SELECT.")
    depth = 0
    for bracket in re.findall(r"[()]", bare):
        depth += 1 if bracket == "(" else -1
        if depth < 0:
            break
    if depth:
        raise _refused("has parentheses that do not match", "Close every one that is opened.")
    word = re.match(r"[\s(]*([A-Za-z]*)", bare)
    if word is None or word[1].lower() not in _READS:
        raise _refused("is not a SELECT", "Only queries that begin with SELECT, WITH, VALUES or FROM are run.")
    return query[:end]


def _refused(what: str, hint: str) -> UsageError:
    return UsageError(f"The query {what}.", code="not-a-select", hint=hint)
