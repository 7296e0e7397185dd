"""Query, count, sample, and tabulate JSON that is too big to load.

    import trommel as tr

    doc = tr.open("big.json")
    for login in doc.values("$..login"):
        ...
"""

from ._errors import ChangedError, Error, JsonError, LimitError, QueryError, StoreError
from ._requests import Count, Group, Request, Sample, Schema, Stats, Values
from ._trommel import (
    Document,
    Part,
    Partial,
    SampleAnswer,
    Store,
    Table,
    ValueIterator,
    merge,
    open,
    store,
)

__all__ = [
    "ChangedError",
    "Count",
    "Document",
    "Error",
    "Group",
    "JsonError",
    "LimitError",
    "Part",
    "Partial",
    "QueryError",
    "Request",
    "Sample",
    "SampleAnswer",
    "Schema",
    "Stats",
    "Store",
    "StoreError",
    "Table",
    "ValueIterator",
    "Values",
    "merge",
    "open",
    "store",
]


def __getattr__(name):
    # Spark and its packages are imported only if they are used.
    if name == "spark":
        import importlib

        return importlib.import_module("trommel.spark")
    raise AttributeError(f"module 'trommel' has no attribute {name!r}")
