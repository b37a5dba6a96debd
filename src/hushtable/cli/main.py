"""The entry point: ``hushtable``.

Only typer is imported here; each command imports what it needs when it is called, so that ``--help`` is instant.
"""

from __future__ import annotations

import functools
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

from hushtable.cli import (
    algorithms,
    attack,
    attacks,
    check,
    compare,
    demo,
    explain,
    explore,
    guards,
    hierarchies,
    increment,
    init,
    ledger,
    measure,
    measures,
    models,
    price,
    report,
    reproduce,
    risk,
    risks,
    run,
    schema,
    studio,
    suggest,
    templates,
    verify,
)
from hushtable.cli.failures import DEBUG, fail
from hushtable.cli.signals import handled_signals, signalled
from hushtable.errors import Cancelled

__all__ = ["COMMANDS", "app", "main"]

app = typer.Typer(
    name="hushtable",
    help="Publish a table about people without publishing the people.",
    epilog="Start with 'hushtable demo', or 'hushtable init DATA' on a table of your own.",
    invoke_without_command=True,
    # tracebacks with local variables would print rows
    pretty_exceptions_enable=False,
    pretty_exceptions_show_locals=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

COMMANDS: dict[str, Callable[..., None]] = {
    "demo": demo.demo,
    "init": init.init,
    "check": check.check,
    "run": run.run,
    "explore": explore.explore,
    "verify": verify.verify,
    "compare": compare.compare,
    "suggest": suggest.suggest,
    "measure": measure.measure,
    "risk": risk.risk,
    "attack": attack.attack,
    "price": price.price,
    "ledger": ledger.ledger,
    "increment": increment.increment,
    "report": report.report,
    "explain": explain.explain,
    "models": models.models,
    "algorithms": algorithms.algorithms,
    "hierarchies": hierarchies.hierarchies,
    "guards": guards.guards,
    "measures": measures.measures,
    "risks": risks.risks,
    "attacks": attacks.attacks,
    "templates": templates.templates,
    "schema": schema.schema,
    "studio": studio.studio,
    "reproduce": reproduce.reproduce,
}
"""Command -> function, in the order in which a new user meets them."""


class _ReaderGone(Exception):
    """Nobody reads our output any more: '| head'."""


def _guarded(command: Callable[..., None]) -> Callable[..., None]:
    """Keep two exceptions from typer, which would turn them into exit codes of its own without a word."""

    @functools.wraps(command)
    def guarded(*args: Any, **kwargs: Any) -> None:
        try:
            command(*args, **kwargs)
            sys.stdout.flush()
        except KeyboardInterrupt:
            raise Cancelled("Cancelled.", hint="Nothing was written.") from None
        except BrokenPipeError:
            raise _ReaderGone from None

    return guarded


for _name, _function in COMMANDS.items():
    app.command(_name)(_guarded(_function))


def _version(wanted: bool) -> None:
    if wanted:
        from hushtable._version import __version__

        typer.echo(f"hushtable {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_version, is_eager=True)
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
        Without the program's name; those of the process where left out.

    Examples
    --------
    >>> main(["--version"])
    Traceback (most recent call last):
    SystemExit: 0
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    _prepare_process()
    try:
        with handled_signals():
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
        code = fail(signalled() or error, as_json="--json" in words)
    sys.exit(code if isinstance(code, int) else 0)


def _prepare_process() -> None:
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # a column name that the terminal cannot show is no reason to fail
            stream.reconfigure(errors="backslashreplace")
    if not os.environ.get(DEBUG):
        # a library's warning may quote what it stumbled over
        warnings.simplefilter("ignore")
