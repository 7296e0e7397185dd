"""Statistics, groups, schemas, checks, and partial answers."""

import json
import pickle
import random
import warnings
from collections import Counter
from decimal import Decimal

import pyarrow
import pytest

import trommel as tr

RECORDS = "$.data.records[*]"


def test_one_pass_answers_many_requests(document, rows):
    values, count, stats, schema, groups, sample = tr.open(document).run(
        tr.Values("$..login"),
        tr.Count("$..tags[*]"),
        tr.Stats(),
        tr.Schema(),
        tr.Group("$.data.records[0].type"),
        tr.Sample("$.data.records", 2, strategy="first"),
    )
    assert values == ["ada", "bob", "cyd"]
    assert count == 3
    assert stats["size"]["bytes"] == document.stat().st_size
    assert stats["types"]["number"] == 5
    assert schema["type"] == "object"
    assert groups["groups"] == [{"key": {"type": "push"}, "count": 1}]
    assert list(sample) == rows[:2]


def test_statistics(document, rows):
    doc = tr.open(document)
    stats = doc.stats("$..price", values=True)
    (price,) = [row for row in stats["values"] if row["path"] == "$..price"]
    assert price["numbers"]["max"] == 2
    assert doc.stats(decimal=True)["structure"] == doc.stats()["structure"]
    several = doc.stats(["$..id", "$..tags"])
    assert [row["path"] for row in several["by_path"]] == ["$..id", "$..tags"]
    fields = doc.each(RECORDS).stats(fields=True)["fields"]
    assert {row["path"]: row["count"] for row in fields}["$.id"] == 3
    assert "schema" in doc.stats(schema=True, max_depth=2)


def test_groups(lines):
    doc = tr.open(lines)
    groups = doc.group("$.type", sum={"total": "$.price"}, distinct="$.id", decimal=True)
    assert groups["total"] == 3
    assert groups["groups"][0] == {
        "key": {"type": "push"},
        "count": 2,
        "sum": {"total": Decimal("0.1")},
        "distinct": {"id": 2},
    }
    by_sum = doc.group({"kind": "$.type"}, sum=["$.price"], sort="sum", top=1)
    assert [group["key"] for group in by_sum["groups"]] == [{"kind": "fork"}]
    assert by_sum["total_groups"] == 2
    for wrong in [{"sort": "sum"}, {"sum": ["$.id", "$.id"]}]:
        with pytest.raises(ValueError):
            doc.group("$.type", **wrong)
    with pytest.raises(ValueError, match="no query"):
        doc.group([])
    with pytest.raises(tr.Error):
        doc.group("$.id", max_groups=2)
    assert doc.group("$.id", max_groups=2, approximate=True)["approximate"] is True


def test_groups_agree_with_counter(tmp_path):
    draw = random.Random(5)
    records = [{"k": draw.choice("abc"), "n": draw.randrange(10**20)} for _ in range(5000)]
    path = tmp_path / "many.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    groups = tr.open(path).group("$.k", sum="$.n", decimal=True)["groups"]
    expected = Counter(record["k"] for record in records)
    assert {group["key"]["k"]: group["count"] for group in groups} == expected
    for group in groups:
        key = group["key"]["k"]
        assert group["sum"]["n"] == sum(record["n"] for record in records if record["k"] == key)


def test_samples(document, rows):
    doc = tr.open(document)
    sample = doc.sample("$.data.records", 2, strategy="stratified", by="$.type")
    assert sample.strata == [
        {"value": "push", "total": 2, "sampled": 1},
        {"value": "fork", "total": 1, "sampled": 1},
    ]
    assert list(doc.sample("$.data.records", 2, "systematic", stride=2)) == [rows[0], rows[2]]
    assert doc.sample("$.data.records", 1, "last").strata is None
    for wrong in [
        {"strategy": "best"},
        {"strategy": "stratified"},
        {"by": "$.type"},
        {"stride": 2},
        {"seed": -1},
        {"strategy": "systematic", "stride": 0},
    ]:
        with pytest.raises(ValueError):
            doc.sample("$.data.records", 2, **wrong)
    with pytest.raises(ValueError):
        doc.sample("$.data.records", 0)


def test_check():
    assert tr.open(b'{"a":1}').check() == {
        "bytes": 7,
        "records": 1,
        "repeated_names": 0,
        "capped": False,
        "first": [],
    }
    repeated = tr.open(b'{"a":1,\n"a":2,"a":3}').check(limit=1)
    assert repeated["repeated_names"] == 2
    assert repeated["first"] == [{"path": "$['a']", "record": 0, "offset": 8, "line": 2, "column": 1}]
    with pytest.raises(tr.JsonError) as raised:
        tr.open(b'{"a":[01]}').check()
    assert raised.value.offset == 7


def test_malformed_records_are_reported():
    lines = b'{"a":1}\n{"a":\n{"a":3}\n'
    with pytest.raises(tr.JsonError):
        tr.open(lines, framing="jsonl").count("$.a")
    doc = tr.open(lines, framing="jsonl", on_bad_record="skip")
    with pytest.warns(UserWarning, match="1 malformed record was skipped"):
        assert doc.count("$.a") == 2
    with pytest.warns(UserWarning, match="1 malformed record was skipped"):
        assert list(doc.values("$.a")) == [1, 3]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning):
            doc.stats()
    with pytest.raises(ValueError):
        tr.open(lines, on_bad_record="ignore")


REQUESTS = [
    tr.Count("$.n"),
    tr.Stats(values=True, schema=True, fields=True),
    tr.Schema(max_depth=3),
    tr.Group("$.k", sum="$.n", mean="$.n", min="$.n", max="$.n", distinct="$.n", decimal=True),
]


def many_lines(count):
    draw = random.Random(count)
    record = {"k": "abc", "n": 0, "tags": []}
    texts = []
    for _ in range(count):
        record["k"] = draw.choice("abcd")
        record["n"] = draw.choice([draw.randrange(10**9), draw.random(), None])
        record["tags"] = [draw.random() for _ in range(draw.randrange(3))]
        texts.append(json.dumps(record))
    return ("\n".join(texts) + "\n").encode()


@pytest.mark.parametrize("count", [1, 2, 3, 16])
def test_merged_partials_equal_one_run(count):
    doc = tr.open(many_lines(3000), framing="jsonl").where("@.k != 'd'")
    partials = [doc.part(number, count).run(*REQUESTS) for number in range(count)]
    # Stored, sent, and merged as a tree.
    partials = [tr.Partial.from_bytes(partial.to_bytes()) for partial in partials]
    partials = [pickle.loads(pickle.dumps(partial)) for partial in partials]
    while len(partials) > 1:
        partials = [tr.merge(*partials[at : at + 2]) for at in range(0, len(partials), 2)]
    assert partials[0].finish() == doc.run(*REQUESTS)
    assert partials[0].to_bytes() == tr.Partial.from_bytes(partials[0].to_bytes()).to_bytes()


def test_partials_of_other_questions_and_damaged_ones():
    doc = tr.open(many_lines(10), framing="jsonl")
    first = doc.part(0, 2).run(tr.Count("$.n"))
    for other in [tr.Count("$.k"), tr.Stats()]:
        with pytest.raises(ValueError):
            tr.merge(first, doc.part(1, 2).run(other))
    with pytest.raises(ValueError):
        tr.merge(first, doc.each("$.tags[*]").part(1, 2).run(tr.Count("$.n")))
    whole = first.to_bytes()
    for damaged in [b"", b"{}", whole[:-5], whole[3:], whole.replace(b'partial":', b'partial":9', 1)]:
        with pytest.raises(ValueError):
            tr.Partial.from_bytes(damaged)
    for wrong in [(), (1,), (first, None)]:
        with pytest.raises(TypeError):
            tr.merge(*wrong)
    with pytest.raises(ValueError, match="values"):
        doc.part(0, 2).run(tr.Values("$.n"))
    with pytest.raises(tr.Error):
        doc.part(0, 2).run(tr.Sample("$", 3, strategy="systematic"))


def test_a_whole_document_is_one_part(document):
    part = tr.open(document).part(0, 1)
    assert isinstance(part, tr.Part) and isinstance(part.each("$..id"), tr.Part)
    assert part.count("$..login") == 3
    partials = [part.run(tr.Count("$..login"), number=number) for number in (0, 1)]
    assert tr.merge(*partials).finish() == [6]
    with pytest.raises(ValueError, match="cannot be divided"):
        tr.open(document).part(0, 2)


@pytest.mark.parametrize("count", [1, 2, 3, 16])
def test_merged_parts_of_an_array_equal_one_run(count):
    lines = many_lines(1000).decode().splitlines()
    text = '{"meta": {"n": 1}, "data": {"rows": [' + ",".join(lines) + ']}, "end": true}'
    doc = tr.open(text.encode()).each("$.data.rows[*]").where("@.k != 'd'")
    parts = doc.parts(count)
    assert len(parts) == count
    assert tr.merge(*(part.run(*REQUESTS) for part in parts)).finish() == doc.run(*REQUESTS)
    one_by_one = [doc.part(number, count).run(*REQUESTS) for number in range(count)]
    assert tr.merge(*one_by_one).finish() == doc.run(*REQUESTS)
    found = [value for part in parts for value in part.values("$.n")]
    assert found == list(doc.values("$.n"))
    tables = [part.table(columns={"k": "$.k"}) for part in parts]
    assert sum(pyarrow.RecordBatchReader.from_stream(table).read_all().num_rows for table in tables) == doc.count("$")
    if count > 1:
        ranges = [part.range for part in parts]
        assert ranges[0][0] == 0 and ranges[-1][1] == 1000
        assert all(one[1] == other[0] for one, other in zip(ranges, ranges[1:]))


def test_only_elements_have_parts():
    doc = tr.open(b'{"a": {"x": 1, "y": 2}, "b": [1, 2, 3]}')
    with pytest.raises(ValueError, match="members of objects"):
        doc.each("$.a[*]").parts(2)
    with pytest.raises(ValueError, match="choose the elements"):
        doc.each("$.b").parts(2)
    with pytest.raises(ValueError, match="choose the elements"):
        doc.elements(0, 1)
    part = doc.each("$.b[*]").elements(1, 9)
    assert list(part.values("$")) == [2, 3] and part.range == (1, 9)
    with pytest.raises(ValueError, match="already"):
        part.each("$.a[*]")
    assert [list(part.values("$")) for part in doc.each("$.b[*]").parts(5)] == [[], [1], [], [2], [3]]
    with pytest.raises(ValueError):
        doc.each("$.b[*]").part(2, 2)


def test_wrong_requests(document):
    doc = tr.open(document)
    for wrong in [(), ("$.a",), (None,)]:
        with pytest.raises(TypeError):
            doc.run(*wrong)
    for wrong in [tr.Count(5), tr.Stats(values="yes"), tr.Sample("$", -1), tr.Group({"a": None})]:
        with pytest.raises(ValueError, match="wrong argument"):
            doc.run(wrong)
    with pytest.raises(tr.QueryError):
        doc.run(tr.Count("$["))
    with pytest.raises(TypeError):
        doc.stats(wrong=True)


def test_requests_are_values():
    assert tr.Group("$.a") == tr.Group(["$.a"]) != tr.Group({"b": "$.a"})
    assert pickle.loads(pickle.dumps(tr.Stats("$.a"))) == tr.Stats(["$.a"])
    assert hash(tr.Count("$")) == hash(tr.Count("$"))
