"""Spark: JSON as a data source, and measures over many machines with the answers of one.

The package must be installed on the driver and on the executors, and both must see the same files.
"""

import contextlib
import functools
import glob
import json
import math
import os
import sys

import pyarrow as pa
from pyspark.sql import types as st
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    EqualTo,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    InputPartition,
    IsNotNull,
    LessThan,
    LessThanOrEqual,
)
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

from . import _requests
from ._errors import Error
from ._trommel import Partial, merge
from ._trommel import open as open_document

__all__ = ["Part", "TrommelDataSource", "parts", "register", "run", "run_partial", "types"]

#: Bytes of lines in a partition, unless asked otherwise.
PARTITION_BYTES = 256 << 20

#: Partials that one task merges.
FAN_IN = 16

#: No records: to check queries, and to name columns.
_EMPTY = open_document(b"", framing="jsonl")

#: The options of the data source. Spark ignores their case.
_OPTIONS = frozenset(
    "path rows columns types framing numbers depth onbadrow onbadrecord partitionbytes pushfilters".split()
)


class Part(InputPartition):
    """A part of the input: a byte range of lines, elements of an array, or a whole document.

    ``elements`` is the range of the elements, or None. ``cut`` describes the part of a single
    document that a guide divides, or is None. ``whole`` says why a document is not divided, or is
    None if it is.
    """

    def __init__(self, path, number, count, first, bytes, whole, elements=None, cut=None):
        self.path = path
        self.number = number
        self.count = count
        self.first = first
        self.bytes = bytes
        self.whole = whole
        self.elements = elements
        self.cut = cut

    def __repr__(self):
        why = f", whole: {self.whole}" if self.whole else ""
        return f"Part({self.path!r}, {self.number} of {self.count}, {self.bytes} bytes{why})"

    def _document(self, each, **options):
        document = open_document(self.path, **options)
        if self.cut is not None:
            return document.within(self.cut)
        if each is not None:
            document = document.each(each)
        if self.elements is not None:
            return document.elements(*self.elements)
        return document.part(self.number, self.count)


def _paths(paths):
    """The files of paths, patterns, and folders, in order."""
    found = []
    for path in [paths] if isinstance(paths, (str, os.PathLike)) else paths:
        path = os.fspath(path)
        path = path.removeprefix("file://") if path.startswith("file:///") else path
        if "://" in path:
            found.append(path)
        elif os.path.isdir(path):
            names = sorted(name for name in os.listdir(path) if not name.startswith(("_", ".")))
            found.extend(os.path.join(path, name) for name in names)
        elif os.path.exists(path):
            found.append(path)
        else:
            matches = sorted(glob.glob(path))
            if not matches:
                raise FileNotFoundError(f"no file matches {path}")
            found.extend(matches)
    return found


def _size(path):
    if "://" not in path:
        return os.path.getsize(path)
    import fsspec

    filesystem, name = fsspec.core.url_to_fs(path)
    return filesystem.size(name)


def parts(paths, *, framing=None, partition_bytes=PARTITION_BYTES, each=None):
    """The parts that paths are divided into.

    Lines are divided by byte ranges. A document is divided by the elements of the array that
    ``each`` names, as in ``$.users[*]``, which are counted here. Without ``each``, a document whose
    file has a guide is divided in its longest array; otherwise it is one part.
    """
    return _parts(paths, framing, partition_bytes, each, each is None)


def _parts(paths, framing, partition_bytes, each, divides_documents):
    if partition_bytes < 1:
        raise ValueError("partition_bytes must be at least 1")
    found = []
    for path in _paths(paths):
        size = _size(path)
        count, whole, divided = max(1, math.ceil(size / partition_bytes)), None, [None]
        if count > 1:
            document = open_document(path, framing=framing)
            try:
                divided = (document if each is None else document.each(each)).parts(count)
                if divided[0].cut is not None and not divides_documents:
                    raise ValueError("a single document cannot be divided into rows: choose them")
                count = len(divided)
            except ValueError as error:
                count, whole, divided = 1, str(error), [None]
        for number in range(count):
            share = size * (number + 1) // count - size * number // count
            cut, elements = getattr(divided[number], "cut", None), getattr(divided[number], "range", None)
            found.append(Part(path, number, count, len(found), share, whole, elements, cut))
    return found


def _report_whole(divided):
    """Says which large documents are read by one task each."""
    whole = {part.path: part.whole for part in divided if part.whole}
    for path, why in whole.items():
        print(f"trommel: one task reads {path}: {why}", file=sys.stderr)


# Measures


def _checked(requests):
    for request in requests:
        if isinstance(request, _requests.Values):
            raise ValueError("partial answers have no values: read them with the data source")
        if isinstance(request, _requests.Sample) and request.strategy == "systematic":
            raise ValueError("a systematic sample needs the whole input: it cannot be drawn from parts")
    return requests


_PARTIALS = "number long, partial binary"


def _batch(rows):
    numbers, partials = zip(*rows)
    arrays = [pa.array(numbers, pa.int64()), pa.array(partials, pa.binary())]
    return pa.RecordBatch.from_arrays(arrays, ["number", "partial"])


def _selected(document, where):
    for condition in where:
        document = document.where(condition)
    return document


@contextlib.contextmanager
def _naming(part):
    """Names the file in the errors of this package: a job has many."""
    try:
        yield
    except Error as error:
        message, *rest = error.args
        raise type(error)(f"{part.path}: {message}", *rest) from error


def _run_parts(batches, *, divided, options, each, where, requests):
    for batch in batches:
        for number in batch.column(0).to_pylist():
            with _naming(divided[number]):
                document = _selected(divided[number]._document(each, **options), where)
                partial = document.run(*requests, number=number).to_bytes()
            yield _batch([(number, partial)])


def _merge_group(key, table):
    rows = sorted(zip(table.column("number").to_pylist(), table.column("partial").to_pylist()))
    merged = merge(*(Partial.from_bytes(partial) for _, partial in rows))
    batch = _batch([(rows[0][0] // FAN_IN, merged.to_bytes())])
    return pa.Table.from_batches([batch])


def run_partial(
    spark,
    paths,
    requests,
    *,
    each=None,
    where=(),
    framing=None,
    strict=False,
    partition_bytes=PARTITION_BYTES,
):
    """Like ``run``, and returns the merged partial answers instead of finishing them."""
    requests = _checked([requests] if isinstance(requests, _requests.Request) else list(requests))
    where = (where,) if isinstance(where, str) else tuple(where)
    divided = parts(paths, framing=framing, partition_bytes=partition_bytes, each=each)
    if not divided:
        raise ValueError("there are no files to read")
    _report_whole(divided)
    options = {"framing": framing, "strict": strict, "threads": 1}
    # Mistakes in queries are raised here, not by a task.
    _selected(_EMPTY if each is None else _EMPTY.each(each), where).run(*requests)
    work = functools.partial(
        _run_parts, divided=divided, options=options, each=each, where=where, requests=requests
    )
    # One row per partition, so that each part is a task.
    partials = spark.range(0, len(divided), 1, len(divided)).mapInArrow(work, _PARTIALS)
    left = len(divided)
    while left > FAN_IN:
        groups = partials.groupBy((partials["number"] / FAN_IN).cast("long").alias("merged"))
        partials = groups.applyInArrow(_merge_group, _PARTIALS)
        left = math.ceil(left / FAN_IN)
    rows = sorted((row["number"], bytes(row["partial"])) for row in partials.collect())
    return merge(*(Partial.from_bytes(partial) for _, partial in rows))


def run(spark, paths, requests, **options):
    """Answers requests over files, a task for each part. Returns the answers in order.

    Counts, groups, statistics, and schemas are those of one machine. Random and stratified samples
    are equally uniform, but other ones. The partial answers are merged as a tree, and finished on
    the driver. ``each``, ``where``, ``framing``, and ``strict`` are those of a document.
    """
    return run_partial(spark, paths, requests, **options).finish()


# Tables


def _table(document, options, **more):
    return document.table(
        rows=options.get("rows"),
        columns=_columns(options),
        numbers=options.get("numbers", "exact"),
        depth=int(options.get("depth", 8)),
        on_bad_row=options.get("onbadrow", "stop"),
        **more,
    )


def _columns(options):
    text = options.get("columns")
    if text is None:
        return None
    try:
        columns = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"the option columns is not JSON: {error}") from error
    if not isinstance(columns, (dict, list)):
        raise ValueError('the option columns must be an object, such as {"id": "$.id"}, or a list of queries')
    return columns


def _open_options(options):
    return {"framing": options.get("framing"), "on_bad_record": options.get("onbadrecord", "stop"), "threads": 1}


def _part_types(batches, *, divided, options):
    for batch in batches:
        for number in batch.column(0).to_pylist():
            with _naming(divided[number]):
                document = divided[number]._document(options.get("rows"), **_open_options(options))
                types = _table(document, _without_rows(options)).types()
            yield _batch([(number, types)])


def types(spark, paths, **options):
    """Finds the types of all values with a task for each part.

    Returns a text for the option ``types`` of the data source, which then reads the input once.
    The options are those of the data source: ``rows``, ``columns``, ``numbers``, ``depth``,
    ``framing``, and ``partitionBytes``.
    """
    options = _known({name: _text(value) for name, value in options.items()})
    divided = _divided(paths, options)
    work = functools.partial(_part_types, divided=divided, options=options)
    rows = spark.range(0, len(divided), 1, len(divided)).mapInArrow(work, _PARTIALS).collect()
    found = [bytes(types) for _, types in sorted((row["number"], row["partial"]) for row in rows)]
    return json.dumps([types.decode() for types in found])


def _known(options):
    """The options by their names in lower case."""
    options = {name.lower(): value for name, value in options.items()}
    unknown = sorted(options.keys() - _OPTIONS)
    if unknown:
        raise ValueError(f"there is no option {unknown[0]}; known are {', '.join(sorted(_OPTIONS))}")
    return options


def _text(value):
    return value if isinstance(value, str) else json.dumps(value)


def _divided(paths, options):
    partition_bytes = int(options.get("partitionbytes", PARTITION_BYTES))
    framing, each = options.get("framing"), options.get("rows")
    return _parts(paths, framing, partition_bytes, each, False)


def _without_rows(options):
    return {name: value for name, value in options.items() if name != "rows"}


class TrommelDataSource(DataSource):
    """``spark.read.format("trommel")``: records of JSON as rows."""

    @classmethod
    def name(cls):
        return "trommel"

    def _paths(self):
        path = self.options.get("path")
        if path is None:
            raise ValueError("the data source needs a path: load(path)")
        # Spark passes several paths as a JSON list.
        return json.loads(path) if path.startswith("[") else path

    def schema(self):
        """The schema that holds the values of all rows, which are read for it."""
        options = _known(self.options)
        paths = _paths(self._paths())
        if "types" not in options:
            found = [_table(open_document(path, **_open_options(options)), options).types() for path in paths]
            options["types"] = self.options["types"] = json.dumps([types.decode() for types in found])
        table = _table(_EMPTY, options, types=_types(options))
        return _spark_schema(pa.schema(pa.RecordBatchReader.from_stream(table).schema))

    def reader(self, schema):
        options = _known(self.options)
        pushes = str(options.get("pushfilters", "false")).lower() == "true"
        return (PushingReader if pushes else Reader)(self._paths(), options, schema)


def _types(options):
    return [types.encode() for types in json.loads(options["types"])]


def _spark_schema(schema):
    return from_arrow_schema(pa.schema([field.with_type(_readable(field.type)) for field in schema]))


def _readable(kind):
    """The Arrow type that Spark has for one of a table."""
    if pa.types.is_null(kind):
        return pa.string()
    if pa.types.is_uint64(kind):
        return pa.decimal128(20, 0)
    if pa.types.is_list(kind):
        return pa.list_(_readable(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_readable(field.type)) for field in kind])
    return kind


def _json_schema(kind):
    """The JSON Schema of a type that the reader was given."""
    if isinstance(kind, st.StructType):
        return {"type": "object", "properties": {field.name: _json_schema(field.dataType) for field in kind}}
    if isinstance(kind, st.ArrayType):
        return {"type": "array", "items": _json_schema(kind.elementType)}
    if isinstance(kind, st.BooleanType):
        return {"type": "boolean"}
    if isinstance(kind, (st.ByteType, st.ShortType, st.IntegerType, st.LongType)):
        return {"type": "integer"}
    if isinstance(kind, (st.FloatType, st.DoubleType)):
        return {"type": "number"}
    if isinstance(kind, st.StringType):
        return {"type": "string"}
    raise ValueError(f"the type {kind.simpleString()} cannot be read from JSON; use a string, and cast it")


class Reader(DataSourceReader):
    """Reads the parts of the input as batches."""

    def __init__(self, paths, options, schema):
        self.paths = paths
        self.options = options
        self.schema = schema
        self.where = []
        # Without types, the caller gave the schema.
        if "types" in options:
            self.given = {"types": _types(options)}
        else:
            self.given = {"schema": json.dumps(_json_schema(schema))}

    def partitions(self):
        divided = _divided(self.paths, self.options)
        _report_whole(divided)
        return divided

    def read(self, partition):
        document = partition._document(self.options.get("rows"), **_open_options(self.options))
        for condition in self.where:
            document = document.where(condition)
        options = _without_rows(self.options)
        schema = to_arrow_schema(self.schema)
        with _naming(partition):
            batches = pa.RecordBatchReader.from_stream(_table(document, options, **self.given))
        for batch in _named_batches(partition, batches):
            columns = [column.cast(field.type) for column, field in zip(batch.columns, schema)]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)


def _named_batches(part, batches):
    """Names the file in the errors of batches, which Arrow raises as its own."""
    try:
        yield from batches
    except (OSError, ValueError) as error:
        raise ValueError(f"{part.path}: {error}") from error


class PushingReader(Reader):
    """A reader that evaluates comparisons itself.

    Spark takes it only if ``spark.sql.python.filterPushdown.enabled`` is set.
    """

    def pushFilters(self, filters):
        table = _table(_EMPTY, self.options, **self.given)
        kinds = table.kinds
        columns = _columns(self.options)
        if columns is None:
            # A column that was renamed has another name in the input.
            queries = {} if table.notes else {name: f"$[{json.dumps(name)}]" for name in kinds}
        elif isinstance(columns, dict):
            queries = columns
        else:
            queries = dict(zip(kinds, columns))
        for filter in filters:
            condition = _condition(filter, queries, kinds)
            if condition is None:
                yield filter
            else:
                self.where.append(condition)


_OPERATORS = {EqualTo: "==", GreaterThan: ">", GreaterThanOrEqual: ">=", LessThan: "<", LessThanOrEqual: "<="}

_LITERALS = {"int64": int, "float64": (int, float), "text": str, "bool": bool}


def _condition(filter, queries, kinds):
    """The filter in JSONPath, or None if Spark must evaluate it."""
    if len(filter.attribute if hasattr(filter, "attribute") else ()) != 1:
        return None
    (name,) = filter.attribute
    kind = kinds.get(name)
    if kind not in _LITERALS or name not in queries:
        return None
    node = "@" + queries[name].lstrip()[1:]
    operator = _OPERATORS.get(type(filter))
    if operator is not None and (kind != "bool" or operator == "=="):
        literal = _literal(filter.value, kind)
        return None if literal is None else f"{node} {operator} {literal}"
    if isinstance(filter, In):
        literals = [_literal(value, kind) for value in filter.value]
        if not literals or None in literals:
            return None
        return " || ".join(f"{node} == {literal}" for literal in literals)
    if isinstance(filter, IsNotNull):
        return f"{node} != null && {node}"
    return None


def _literal(value, kind):
    is_bool = isinstance(value, bool)
    if not isinstance(value, _LITERALS[kind]) or is_bool != (kind == "bool"):
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return json.dumps(value)


def register(spark):
    """Registers the data source, if the session has not found it by itself."""
    spark.dataSource.register(TrommelDataSource)
