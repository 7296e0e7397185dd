import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO, Literal, Self, final

from typing_extensions import disjoint_base

from ._requests import Request

__all__ = [
    "Document",
    "Part",
    "Partial",
    "SampleAnswer",
    "Store",
    "Table",
    "ValueIterator",
    "merge",
    "open",
    "run_program",
    "store",
]

_Framing = Literal["auto", "json", "jsonl", "concatenated", "json-seq"]
_Numbers = Literal["exact", "float"]
_Strategy = Literal["random", "first", "last", "systematic", "stratified"]
_Queries = str | Sequence[str] | Mapping[str, str]

def open(
    source: str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO,
    *,
    framing: _Framing | None = None,
    trusted: bool = False,
    strict: bool = False,
    on_bad_record: Literal["stop", "skip"] = "stop",
    threads: int | None = None,
    progress: bool | Callable[[int, int | None], object] | None = None,
) -> Document: ...
def merge(*partials: Partial) -> Partial: ...
def store(folder: str | os.PathLike[str] | None = None) -> Store: ...
def run_program(arguments: Sequence[str], program: str | os.PathLike[str] | None = None) -> int: ...

@disjoint_base
class Document:
    def each(self, query: str) -> Self: ...
    def where(self, filter: str) -> Self: ...
    def part(self, number: int, count: int) -> Part: ...
    def parts(self, count: int) -> list[Part]: ...
    def within(self, cut: str) -> Part: ...
    def elements(self, start: int, stop: int) -> Part: ...
    def values(
        self,
        query: str,
        *,
        order: Literal["rfc", "document"] = "rfc",
        limit: int | None = None,
        decimal: bool = False,
    ) -> ValueIterator: ...
    def count(self, *queries: str, **named: str) -> Any: ...
    def sample(
        self,
        query: str,
        size: int,
        strategy: _Strategy = "random",
        seed: int = 0,
        by: str | None = None,
        stride: int | None = None,
        decimal: bool = False,
    ) -> SampleAnswer: ...
    def stats(
        self,
        queries: str | Sequence[str] = (),
        values: bool = False,
        histograms: bool = False,
        fields: bool = False,
        bytes: bool = False,
        schema: bool = False,
        top: int | None = None,
        max_depth: int | None = None,
        decimal: bool = False,
    ) -> dict[str, Any]: ...
    def schema(self, max_depth: int | None = None) -> Any: ...
    def group(
        self,
        by: _Queries,
        sum: _Queries = (),
        mean: _Queries = (),
        min: _Queries = (),
        max: _Queries = (),
        distinct: _Queries = (),
        sort: str = "count",
        top: int | None = None,
        max_groups: int | None = None,
        approximate: bool = False,
        decimal: bool = False,
    ) -> dict[str, Any]: ...
    def check(self, *, limit: int = 10) -> dict[str, Any]: ...
    def run(self, *asked: Request) -> Any: ...
    def table(
        self,
        *,
        rows: str | None = None,
        columns: Mapping[str, str] | Sequence[str] | None = None,
        numbers: _Numbers = "exact",
        schema: str | None = None,
        types: bytes | Sequence[bytes] | None = None,
        on_bad_row: Literal["stop", "null", "skip"] = "stop",
        depth: int = 8,
    ) -> Table: ...

@final
class Part(Document):
    @property
    def range(self) -> tuple[int, int] | None: ...
    @property
    def cut(self) -> str | None: ...
    def run(self, *asked: Request, number: int | None = None) -> Partial: ...

@final
class Partial:
    @classmethod
    def from_bytes(cls, bytes: bytes) -> Partial: ...
    def to_bytes(self) -> bytes: ...
    def finish(self) -> list[Any]: ...
    def __reduce__(self) -> tuple[Any, tuple[bytes]]: ...

@final
class Store:
    def put(
        self,
        data: str | bytes | bytearray | memoryview | BinaryIO | os.PathLike[str],
        *,
        tool: str,
        id: str | None = None,
        conversation: str | None = None,
        message: str | None = None,
        failed: bool = False,
        parameters: Mapping[str, Any] | None = None,
        framing: _Framing | None = None,
    ) -> str: ...
    def list(
        self,
        *,
        tool: str | None = None,
        conversation: str | None = None,
        limit: int = 20,
        offset: int = 0,
    ) -> list[dict[str, Any]]: ...
    def open(self, id: str) -> Document: ...
    def describe(self, id: str) -> dict[str, Any]: ...
    def delete(self, id: str) -> None: ...
    def __enter__(self) -> Store: ...
    def __exit__(self, *_arguments: object) -> None: ...

@final
class ValueIterator(Iterator[Any]):
    def raw(self) -> ValueIterator: ...
    def located(self) -> ValueIterator: ...
    def close(self) -> None: ...
    def __iter__(self) -> ValueIterator: ...
    def __next__(self) -> Any: ...

@final
class SampleAnswer:
    @property
    def total(self) -> int: ...
    @property
    def indices(self) -> list[int]: ...
    @property
    def strata(self) -> list[dict[str, Any]] | None: ...
    def __len__(self) -> int: ...
    def __getitem__(self, key: int, /) -> Any: ...

@final
class Table:
    @property
    def names(self) -> list[str]: ...
    @property
    def kinds(self) -> dict[str, str]: ...
    def types(self) -> bytes: ...
    @property
    def notes(self) -> list[str]: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def to_parquet(self, path: str | os.PathLike[str]) -> int: ...
