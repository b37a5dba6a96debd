"""The entry point: ``hushtable``.

Only the command that is called is imported, and it imports what it needs when it runs, so that it starts quickly.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import inspect
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from hushtable._version import __version__
from hushtable.cli.signals import handled_signals, signalled
from hushtable.errors import DEBUG, Cancelled

COMMANDS = (
    *("demo", "init", "check", "run", "explore", "verify", "gate", "audit", "compare", "suggest", "measure", "risk"),
    *("attack", "verdict", "price", "ledger", "pseudonyms", "increment", "sample", "condense", "report", "sign"),
    *("explain", "models", "algorithms", "hierarchies", "forms", "treatments", "guards", "measures", "risks"),
    *("attacks", "templates", "schema", "migrate", "studio", "mcp", "reproduce", "cross"),
)
"""The commands, in the order in which a new user meets them. Each is the function of its name in ``cli/<name>.py``, or
a list of ``cli/catalogue.py``."""


class _Command(TyperCommand):
    """A command whose help shows no type for options that are on or off, as some versions of typer do."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options and arguments."""
        return _plain(super().get_params(ctx))


class _Group(TyperGroup):
    """The same for the options before the command."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options."""
        return _plain(super().get_params(ctx))


def _plain(params: list[Any]) -> list[Any]:
    for param in params:
        if getattr(param, "is_bool_flag", False) and param.metavar is None:
            param.metavar = ""
    return params


def application(commands: Iterable[str] = COMMANDS, *, alone: bool = False) -> typer.Typer:
    """Return the command line with these commands.

    Parameters
    ----------
    commands : iterable of str
    alone : bool
        Whether the process runs nothing but a command.

    Examples
    --------
    >>> [command.name for command in application(["run", "verify"]).registered_commands]
    ['run', 'verify']
    """
    app = typer.Typer(
        name="hushtable",
        cls=_Group,
        help="Publish a table about people without publishing the people.",
        epilog="Start with 'hushtable demo', or 'hushtable init DATA' on a table of your own.",
        invoke_without_command=True,
        # tracebacks with local variables would print rows
        pretty_exceptions_enable=False,
        pretty_exceptions_show_locals=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    for name in commands:
        command = _command(name)
        app.command(name, cls=_Command, help=_unwrapped(command))(_guarded(command, alone=alone))
    return app


def _unwrapped(command: Callable[..., None]) -> str:
    """Return a docstring with one line per paragraph: typer would keep its line breaks in any width."""
    return "\n\n".join(" ".join(part.split()) for part in (inspect.getdoc(command) or "").split("\n\n"))


def _command(name: str) -> Callable[..., None]:
    if importlib.util.find_spec(f"hushtable.cli.{name}") is None:
        from hushtable.cli.catalogue import listing

        return listing(name)
    command: Callable[..., None] = getattr(importlib.import_module(f"hushtable.cli.{name}"), name)
    return command


class _ReaderGone(Exception):
    """Signals that the reader of our output has closed it, as with '| head'."""


def _guarded(command: Callable[..., None], *, alone: bool) -> Callable[..., None]:
    """Hide two exceptions from typer, which would silently turn them into its own exit codes."""

    @functools.wraps(command)
    def guarded(*args: Any, **kwargs: Any) -> None:
        try:
            if alone:
                _without_pandas()
            command(*args, **kwargs)
            sys.stdout.flush()
        except KeyboardInterrupt:
            raise Cancelled("Canceled.", hint="Nothing was written.") from None
        except BrokenPipeError:
            raise _ReaderGone from None

    return guarded


class _NoPandas:
    """An import hook that hides pandas."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("hidden", name=name)


def _without_pandas() -> None:
    """Make pyarrow's first array, for which it imports pandas, if it is installed: a fifth of a small run's time.

    Commands read files and have no data frames. pyarrow does not ask again, and pandas can still be imported.
    """
    import pyarrow as pa

    hidden = _NoPandas()
    sys.meta_path.insert(0, hidden)
    try:
        pa.array([0])
    finally:
        sys.meta_path.remove(hidden)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"hushtable {__version__}")
        raise typer.Exit


def _options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_version, is_eager=True)
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", help="Print only errors and --json output. Works with any command.")
    ] = False,
    log_json: Annotated[
        bool, typer.Option("--log-json", help="Log to stderr, one JSON object per line. Works with any command.")
    ] = False,
) -> None:
    """Publish a table about people without publishing the people."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code.

    Parameters
    ----------
    arguments : sequence of str, optional
        Without the program's name. Defaults to the arguments of the process.

    Examples
    --------
    >>> main(["--version"])
    Traceback (most recent call last):
    SystemExit: 0
    """
    words = _without_logging(sys.argv[1:] if arguments is None else arguments)
    _prepare_process()
    try:
        with handled_signals():
            # help, completion and misspelt commands need all of them
            chosen = words[:1] if words and words[0] in COMMANDS else COMMANDS
            app = application(chosen, alone=arguments is None)
            code = app(words, prog_name="hushtable", standalone_mode=False)
            ended = signalled()
            if ended is not None and code == ended.exit_code:
                # it came before the command was entered, and typer ends without a word
                raise ended
            sys.stdout.flush()
    except (BrokenPipeError, _ReaderGone):
        # Python would complain again when it flushes at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 128 + 13  # SIGPIPE, which not every system has
    except (Exception, KeyboardInterrupt) as error:
        from hushtable.cli.failures import fail

        code = fail(signalled() or error, as_json="--json" in words)
    sys.exit(code if isinstance(code, int) else 0)


def _without_logging(given: Sequence[str]) -> list[str]:
    """Remove ``--quiet`` and ``--log-json``, wherever they appear, and apply them."""
    quiet, as_json = "--quiet" in given, "--log-json" in given
    # a later call in the same process is configured again
    if quiet or as_json or "hushtable.cli.failures" in sys.modules:
        from hushtable.cli.failures import configure

        configure(quiet=quiet, as_json=as_json)
    return [word for word in given if word not in ("--quiet", "--log-json")]


def _prepare_process() -> None:
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # a column name that the terminal cannot show is no reason to fail
            stream.reconfigure(errors="backslashreplace")
    if not os.environ.get(DEBUG):
        # a library's warning may quote what it stumbled over
        warnings.simplefilter("ignore")
