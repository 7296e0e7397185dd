"""Tables in the programs that read them."""

import io
import json
import random

import pytest

import trommel as tr

duckdb = pytest.importorskip("duckdb")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

COLUMNS = {"id": "$.id", "who": "$.actor.login", "tags": "$.tags[*]"}
EXPECTED = [
    {"id": 1, "who": "ada", "tags": ["a", "b"]},
    {"id": 2, "who": "bob", "tags": None},
    {"id": 3, "who": "cyd", "tags": ["c"]},
]


def test_every_reader_sees_the_same_rows(document, lines):
    tables = [
        tr.open(document).table(rows="$.data.records[*]", columns=COLUMNS),
        tr.open(lines).table(columns=COLUMNS),
        tr.open(lines.open("rb"), framing="jsonl").table(columns=COLUMNS),
    ]
    for t in tables:
        assert t.names == ["id", "who", "tags"]
        assert pa.table(t).to_pylist() == EXPECTED
        assert pl.DataFrame(t).to_dicts() == EXPECTED
        frame = pd.DataFrame.from_arrow(t) if hasattr(pd.DataFrame, "from_arrow") else pa.table(t).to_pandas()
        assert list(frame["who"]) == ["ada", "bob", "cyd"]
        found = duckdb.sql("select who, count(*) from t group by 1 order by 1").fetchall()
        assert found == [("ada", 1), ("bob", 1), ("cyd", 1)]


def test_parquet(lines, tmp_path, rows):
    path = tmp_path / "out.parquet"
    assert tr.open(lines).table().to_parquet(path) == 3
    assert pq.read_table(path).to_pylist() == rows
    assert pl.read_parquet(path).to_dicts() == rows
    assert duckdb.sql(f"select sum(id) from '{path}'").fetchall() == [(6,)]
    bad = tmp_path / "bad.parquet"
    with pytest.raises(tr.JsonError):
        tr.open(b'{"a":1}\n{"a":\n', framing="jsonl").table().to_parquet(bad)
    with pytest.raises(OSError):
        tr.open(lines).table().to_parquet(tmp_path / "no" / "such.parquet")
    assert [found.name for found in tmp_path.iterdir() if "parquet" in found.name] == ["out.parquet"]


def value(draw, kind):
    if draw.random() < 0.1:
        return None
    return {
        "int": lambda: draw.randint(-(10**6), 10**6),
        "unsigned": lambda: draw.randint(0, 2**64 - 1),
        "real": lambda: round(draw.uniform(-1e3, 1e3), draw.randint(1, 6)),
        "text": lambda: draw.choice(["", "\u00e9\U0001f600", 'a"b\\', "x\ny"]),
        "null": lambda: None,
        "list": lambda: [value(draw, "int") for _ in range(draw.randint(0, 3))],
        "object": lambda: {"x": value(draw, "text"), "y": value(draw, "real")},
    }[kind]()


def test_random_rows():
    for seed in range(400):
        draw = random.Random(seed)
        known = ["int", "unsigned", "real", "text", "list", "object"]
        kinds = {name: draw.choice([*known, "null", "mixed"]) for name in "abcd"}
        rows = []
        for _ in range(draw.randint(1, 50)):
            kind_of = {name: draw.choice(known) if kind == "mixed" else kind for name, kind in kinds.items()}
            rows.append({name: value(draw, kind) for name, kind in kind_of.items()})
        data = "".join(json.dumps(row) + "\n" for row in rows).encode()
        t = tr.open(data, framing="jsonl").table()
        types = t.kinds
        for found in (pa.table(t).to_pylist(), pl.DataFrame(t).to_dicts()):
            for row in found:
                for name, text in row.items():
                    if types[name] in ("json", "number as text") and text is not None:
                        row[name] = json.loads(text)
            assert found == rows, seed


def test_extreme_columns():
    names = [f"c{number}" for number in range(10_000)]
    data = "".join(json.dumps(dict.fromkeys(names, row)) + "\n" for row in range(3)).encode()
    wide = pa.table(tr.open(data, framing="jsonl").table())
    assert wide.column_names == names and wide.column("c9999").to_pylist() == [0, 1, 2]
    odd = b'{"null": null, "huge": 1e400, "": 2}\n{"huge": 1, "null": null}\n'
    t = tr.open(odd, framing="jsonl").table()
    assert t.kinds == {"null": "null", "huge": "number as text", "unnamed": "int64"}
    assert pa.table(t).to_pylist()[0] == {"null": None, "huge": "1e400", "unnamed": 2}
    with pytest.raises(tr.JsonError, match="surrogate"):
        tr.open(b'{"\\ud800": 1}\n').table().names
    assert pa.table(tr.open(b'{"a": 7}').table(rows="$.a")).to_pylist() == [{"value": 7}]
    none = tr.open(b'{"a": 7}').table(rows="$.b", columns={"x": "$.x"})
    assert pa.table(none).schema.names == ["x"] and pa.table(none).num_rows == 0
    with pytest.raises(tr.QueryError):
        tr.open(odd).table(rows="$" + "[0]" * 400_000)


def test_schemas_and_policies():
    data = b'{"id":1}\n{"id":"x"}\n'
    schema = json.dumps({"properties": {"id": {"type": "integer"}}})
    doc = tr.open(data, framing="jsonl")
    with pytest.raises(Exception, match="row 1, .*the schema wants an integer"):
        pa.table(doc.table(schema=schema))
    t = doc.table(schema=schema, on_bad_row="null")
    assert pa.table(t).to_pylist() == [{"id": 1}, {"id": None}]
    assert pa.table(doc.table(schema=schema, on_bad_row="skip")).to_pylist() == [{"id": 1}]
    with pytest.raises(ValueError, match="on_bad_row"):
        doc.table(on_bad_row="x")
    with pytest.raises(ValueError, match="properties"):
        doc.table(schema="{}")
    renamed = tr.open(b'{"a":1,"A":2}\n', framing="jsonl").table()
    assert renamed.names == ["a", "A_2"] and renamed.notes == ['"A" is "A_2"']


def test_odd_tables():
    assert pa.table(tr.open(b"", framing="jsonl").table(columns={"a": "$.a"})).num_rows == 0
    assert pa.table(tr.open(b"7").table()).to_pylist() == [{"value": 7}]
    lists = tr.open(b'{"a":1}\n', framing="jsonl").table(columns=["$.a", "$.b.c"])
    assert lists.names == ["a", "c"]
    with pytest.raises(TypeError, match="mapping"):
        tr.open(b"[]").table(columns="$.a")
    # A capsule that is taken twice, or dropped.
    t = tr.open(b'{"a":1}\n', framing="jsonl").table()
    first, second = t.__arrow_c_stream__(), t.__arrow_c_stream__()
    del first
    assert pa.RecordBatchReader._import_from_c_capsule(second).read_all().to_pylist() == [{"a": 1}]
    with pytest.raises(Exception):
        pa.RecordBatchReader._import_from_c_capsule(second)


def test_errors_within_a_stream():
    data = b'{"a":1}\n{"a":\n'
    schema = json.dumps({"properties": {"a": {"type": "integer"}}})
    with pytest.raises(Exception, match="at byte 13"):
        pa.table(tr.open(data, framing="jsonl").table(schema=schema))
    with pytest.raises(tr.JsonError):
        pa.table(tr.open(io.BytesIO(data), framing="jsonl").table())


def test_documents_share_types(tmp_path):
    texts = [b'{"id": 1, "tag": null}\n', b'{"id": 2.5, "who": {"name": "ada"}}\n', b'{"tag": "x"}\n']
    documents = [tr.open(text, framing="jsonl") for text in texts]
    types = [doc.table().types() for doc in documents]
    tables = [pa.table(doc.table(types=types)) for doc in documents]
    whole = pa.table(tr.open(b"".join(texts), framing="jsonl").table())
    assert pa.concat_tables(tables) == whole
    typed = documents[0].table(types=types)
    assert typed.names == ["id", "tag", "who"]
    assert typed.kinds == {"id": "float64", "tag": "text", "who": "struct"}
    for wrong in [b"", b"{}", types[0][:-2]]:
        with pytest.raises(ValueError):
            documents[0].table(types=wrong)
    with pytest.raises(ValueError, match="other columns"):
        documents[0].table(columns=["$.id", "$.tag"], types=types).names
    for wrong in [[], 5]:
        with pytest.raises((ValueError, TypeError)):
            documents[0].table(types=wrong)
    with pytest.raises(ValueError, match="either"):
        documents[0].table(types=types, schema="{}")


def test_notes_of_streams():
    rows = b'{"n": 1e-400}\n{"n": \n{"n": 2}\n'
    table = tr.open(rows, framing="jsonl", on_bad_record="skip").table(numbers="float")
    assert pa.table(table).num_rows == 2
    assert table.notes == ["1 number was rounded to a double", "1 malformed record was skipped"]
