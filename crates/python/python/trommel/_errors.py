"""The exceptions. Each has its arguments as attributes, and can be pickled."""


class Error(Exception):
    """The base of all exceptions of this package."""


class JsonError(Error, ValueError):
    """The input is not valid JSON.

    ``kind`` is a stable short name, ``offset`` the byte, ``line`` and ``column`` its position from 1
    (or None), and ``excerpt`` the bytes around it.
    """

    def __init__(self, message, kind, offset, line, column, excerpt):
        super().__init__(message, kind, offset, line, column, excerpt)
        self.kind = kind
        self.offset = offset
        self.line = line
        self.column = column
        self.excerpt = excerpt

    def __str__(self):
        return self.args[0]


class QueryError(Error, ValueError):
    """A query or filter is not valid."""


class LimitError(Error):
    """A limit was reached: of depth, of a token, or of temporary files."""


class ChangedError(Error):
    """The input changed while it was read."""


class StoreError(Error):
    """A store cannot be read or written, or has no such output.

    ``candidates`` are IDs that the caller may have meant.
    """

    def __init__(self, message, candidates=()):
        super().__init__(message, candidates)
        self.candidates = candidates

    def __str__(self):
        return self.args[0]
