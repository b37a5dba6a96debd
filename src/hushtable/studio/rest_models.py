"""The bodies of REST requests and responses, from which OpenAPI is generated."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class Failure(BaseModel):
    """An error; never contains a cell of the table."""

    error: str
    code: str
    message: str
    hint: str = ""


class NewProject(_Body):
    """A project to create, or a new name for one."""

    name: Annotated[str, Field(min_length=1, max_length=80)]
    """its title"""


class ProjectChange(_Body):
    """A new name or limit for a project; omitted fields stay unchanged."""

    name: Annotated[str | None, Field(min_length=1, max_length=80)] = None
    """its title"""
    unpacked: Annotated[int | None, Field(ge=1, le=2**20)] = None
    """Limit in MiB on the unpacked size of an upload; null for the studio's own limit"""


class NewExample(_Body):
    """Generated patients to try the studio with."""

    rows: Annotated[int, Field(ge=10, le=1_000_000)] = 5000
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 7


class NewQuery(_Body):
    """A database query whose result becomes the table."""

    source: Annotated[str, Field(min_length=1, max_length=2000)]
    """the address of a database server; it is not kept"""
    query: Annotated[str, Field(min_length=1, max_length=100_000)]


class ProjectView(BaseModel):
    """A project."""

    id: str
    name: str
    created: float
    data: str | None = None
    origin: str | None = None
    rows: int | None = None
    columns: list[str] = []
    unpacked: int | None = None
    runs: int = 0
    revision: str = ""


class JobView(BaseModel):
    """A job and its progress."""

    id: str
    project: str
    kind: str
    arguments: dict[str, Any]
    state: str
    share: float
    what: str
    created: float
    started: float | None = None
    ended: float | None = None
    cancelling: bool = False
    seconds_left: float | None = None
    result: Any = None
    error: Failure | None = None


class PolicyBody(_Body):
    """A policy as YAML."""

    yaml: Annotated[str, Field(max_length=2_000_000)]


class ColumnChange(_Body):
    """New settings of a column; omitted settings stay unchanged; null removes one."""

    role: str | None = None
    kind: str | None = None
    hierarchy: Any = None
    weight: float | None = None
    categories: dict[str, list[str]] | None = None
    order: list[str] | None = None
    cells: str | None = None
    treatment: Any = None


class ColumnLook(_Body):
    """A hierarchy to try on a column. Defaults to the policy's own."""

    hierarchy: Any = None


class LevelsRequest(_Body):
    """Another solution: the level of every quasi-identifier."""

    levels: dict[str, Annotated[int, Field(ge=0, le=10_000)]]


class GridRequest(_Body):
    """The settings to try: every algorithm with every alternative of models and every suppression limit."""

    algorithms: Annotated[list[str | dict[str, dict[str, Any]]], Field(max_length=100)] = []
    models: Annotated[list[list[dict[str, dict[str, Any]]]], Field(max_length=100)] = []
    suppression: Annotated[list[Annotated[float, Field(ge=0, le=1)]], Field(max_length=100)] = []


class AttackRequest(_Body):
    """The attacks to run. Defaults to all."""

    names: Annotated[list[str], Field(max_length=100)] = []


class ReportRequest(_Body):
    """The template that determines the questions of the evidence report."""

    template: Annotated[str, Field(max_length=100)] = "general"


class RiskRequest(_Body):
    """The fraction of the population that the table holds. Defaults to all of it."""

    fraction: Annotated[float, Field(gt=0, le=1)] | None = None


class RunView(BaseModel):
    """A finished run."""

    number: int
    created: float
    seconds: float
    rows: int
    classes: int
    solutions: int
    published: list[str]
    quasi: list[str]
    sensitive: list[str]
    summary: dict[str, Any]


class TablePage(BaseModel):
    """Rows of a table."""

    columns: list[str]
    rows: list[list[Any]]
    offset: int
    total: int
