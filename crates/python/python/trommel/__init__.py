"""Query, count, sample, and tabulate JSON that is too big to load.

    import trommel as tr

    doc = tr.open("big.json")
    for login in doc.values("$..login"):
        ...
"""

from ._errors import ChangedError, Error, JsonError, LimitError, QueryError
from ._trommel import Document, Sample, Table, Values, open

__all__ = [
    "ChangedError",
    "Document",
    "Error",
    "JsonError",
    "LimitError",
    "QueryError",
    "Sample",
    "Table",
    "Values",
    "open",
]
