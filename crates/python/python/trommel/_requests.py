"""Questions for ``Document.run``. They can be pickled and compared."""

import dataclasses
import json
from collections.abc import Mapping


class Request:
    """The base of all questions."""

    def _text(self):
        return json.dumps({"kind": type(self).__name__.lower(), **vars(self)})


def _named(queries):
    """Queries with names, or None for those that have none of their own."""
    if isinstance(queries, str):
        queries = [queries]
    pairs = queries.items() if isinstance(queries, Mapping) else ((None, query) for query in queries)
    return tuple(pairs)


def _set(request, **fields):
    for name, value in fields.items():
        object.__setattr__(request, name, value)


@dataclasses.dataclass(frozen=True)
class Values(Request):
    """The values of a query, as a list."""

    query: str
    limit: int | None = None
    decimal: bool = False


@dataclasses.dataclass(frozen=True)
class Count(Request):
    """The number of nodes of a query."""

    query: str


@dataclasses.dataclass(frozen=True)
class Sample(Request):
    """A sample of the elements of an array, or of the nodes of a query.

    ``strategy`` is ``random``, ``first``, ``last``, ``systematic`` (with ``stride``), or
    ``stratified`` (with ``by``, the query whose value is an item's group).
    """

    query: str
    size: int
    strategy: str = "random"
    seed: int = 0
    by: str | None = None
    stride: int | None = None
    decimal: bool = False


@dataclasses.dataclass(frozen=True)
class Stats(Request):
    """Size, structure, types, arrays, and objects: of the input, or of the values of queries.

    ``values`` adds figures of the values at each path, ``top`` the number of frequent values among
    them, ``histograms`` histograms of numbers, lengths, and times, ``fields`` every path with its
    types, ``bytes`` the bytes of every path and of its names, and ``schema`` a JSON Schema.
    """

    queries: tuple[str, ...] = ()
    values: bool = False
    histograms: bool = False
    fields: bool = False
    bytes: bool = False
    schema: bool = False
    top: int | None = None
    max_depth: int | None = None
    decimal: bool = False

    def __post_init__(self):
        _set(self, queries=(self.queries,) if isinstance(self.queries, str) else tuple(self.queries))


@dataclasses.dataclass(frozen=True)
class Schema(Request):
    """A JSON Schema that every record satisfies."""

    max_depth: int | None = None


@dataclasses.dataclass(frozen=True)
class Group(Request):
    """Groups of records by the values of queries, with figures for each group.

    Every argument is a query, a list of queries, or a mapping of names to queries.
    ``sort`` is ``count``, ``key``, or a figure, such as ``sum`` or ``sum:bytes``.
    """

    by: object
    sum: object = ()
    mean: object = ()
    min: object = ()
    max: object = ()
    distinct: object = ()
    sort: str = "count"
    top: int | None = None
    max_groups: int | None = None
    approximate: bool = False
    decimal: bool = False

    def __post_init__(self):
        for name in ("by", "sum", "mean", "min", "max", "distinct"):
            _set(self, **{name: _named(getattr(self, name))})
