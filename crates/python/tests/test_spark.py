"""Spark, with two executors as processes of their own."""

import json
import os
import pathlib
import random
import re
import subprocess
import sys

import pytest

pytest.importorskip("pyspark")
if not os.environ.get("TROMMEL_SPARK"):
    pytest.skip("Spark runs with TROMMEL_SPARK=1", allow_module_level=True)

from pyspark.sql import SparkSession  # noqa: E402

import trommel as tr  # noqa: E402

RECORDS = 4000


@pytest.fixture(scope="module")
def spark():
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.sql.python.filterPushdown.enabled", "true")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    yield session
    session.stop()


def records(count, seed):
    draw = random.Random(seed)
    for number in range(count):
        yield {
            "id": number,
            "type": draw.choice(["push", "fork", "watch", None]),
            "actor": {"login": f"user{draw.randrange(50)}"},
            "price": draw.choice([0.1, 2.5, 7, None]),
            "tags": [draw.choice("abc") for _ in range(draw.randrange(3))],
            "big": draw.randrange(2**64),
        }


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("spark") / "log.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records(RECORDS, 1)))
    return path


REQUESTS = [
    tr.Count("$.tags[*]"),
    tr.Stats(values=True, schema=True, fields=True),
    tr.Schema(),
    tr.Group("$.type", sum="$.price", distinct="$.actor.login", decimal=True),
]


@pytest.mark.parametrize("count", [1, 8, 40])
def test_answers_are_those_of_one_machine(spark, log, count):
    size = -(-log.stat().st_size // count)
    options = {"where": "@.id >= 10", "partition_bytes": size}
    merged = tr.spark.run_partial(spark, str(log), REQUESTS, **options)
    doc = tr.open(log).where("@.id >= 10")
    assert merged.finish() == doc.run(*REQUESTS)
    one = tr.merge(*(doc.part(number, count).run(*REQUESTS) for number in range(count)))
    assert merged.to_bytes() == one.to_bytes()


def test_several_documents_are_one_input(spark, log, tmp_path):
    for number in range(3):
        document = {"data": list(records(100, number))}
        (tmp_path / f"{number}.json").write_text(json.dumps(document))
    (count,) = tr.spark.run(spark, str(tmp_path), [tr.Count("$.tags[*]")], each="$.data[*]")
    paths = sorted(tmp_path.iterdir())
    assert count == sum(tr.open(path).count("$.data[*].tags[*]") for path in paths)
    assert [part.first for part in tr.spark.parts(tmp_path)] == [0, 1, 2]
    (part,) = tr.spark.parts(tmp_path / "0.json", partition_bytes=100)
    assert "cannot be divided" in part.whole


def test_a_document_with_a_guide_is_divided(spark, tmp_path, monkeypatch):
    monkeypatch.delenv("TROMMEL_GUIDE", raising=False)
    monkeypatch.setenv("TROMMEL_HOME", str(tmp_path / "home"))
    path = tmp_path / "one.json"
    rows = [{"id": number, "text": "x" * 200} for number in range(20_000)]
    path.write_text(json.dumps({"meta": {"id": 1}, "data": {"rows": rows}, "id": 2}))
    assert "cannot be divided" in tr.spark.parts(path, partition_bytes=1_000_000)[0].whole
    program = pathlib.Path(sys.executable).parent / "trommel"
    subprocess.run([program, "guide", "build", path], check=True)
    divided = tr.spark.parts(path, partition_bytes=1_000_000)
    assert len(divided) > 2 and not any(part.whole for part in divided)
    requests = [tr.Count("$..id"), tr.Count("$.data.rows[*]"), tr.Count("$"), tr.Sample("$.data.rows", 5, seed=1)]
    merged = tr.spark.run_partial(spark, str(path), requests, partition_bytes=1_000_000)
    assert merged.finish()[:3] == [20_002, 20_000, 1]
    (stats,) = tr.spark.run(spark, str(path), [tr.Stats()], partition_bytes=1_000_000)
    assert stats == tr.open(path).stats()


@pytest.mark.parametrize("count", [2, 7])
def test_a_document_is_divided_by_its_elements(spark, tmp_path, count):
    path = tmp_path / "one.json"
    path.write_text(json.dumps({"meta": 1, "data": {"rows": list(records(RECORDS, 2))}}))
    size, each = -(-path.stat().st_size // count), "$.data.rows[*]"
    divided = tr.spark.parts(path, partition_bytes=size, each=each)
    assert len(divided) == count and not any(part.whole for part in divided)
    merged = tr.spark.run_partial(spark, str(path), REQUESTS, each=each, partition_bytes=size)
    assert merged.finish() == tr.open(path).each(each).run(*REQUESTS)
    frame = spark.read.format("trommel").option("rows", each).option("partitionBytes", size).load(str(path))
    assert frame.rdd.getNumPartitions() == count
    assert frame.count() == RECORDS
    assert [row["id"] for row in frame.select("id").sort("id").collect()] == list(range(RECORDS))


def test_samples_are_merged(spark, log):
    (sample,) = tr.spark.run(spark, log, tr.Sample("$", 5, seed=3), partition_bytes=100_000)
    assert (len(sample), sample.total) == (5, RECORDS)
    (again,) = tr.spark.run(spark, log, tr.Sample("$", 5, seed=3), partition_bytes=100_000)
    assert list(sample) == list(again)


def test_mistakes_are_raised_by_the_driver(spark, log, tmp_path):
    for wrong in [tr.Values("$.a"), tr.Sample("$", 2, strategy="systematic")]:
        with pytest.raises(ValueError):
            tr.spark.run(spark, log, wrong)
    with pytest.raises(tr.QueryError):
        tr.spark.run(spark, log, tr.Count("$["))
    with pytest.raises(tr.QueryError):
        tr.spark.run(spark, log, tr.Count("$"), where="@.a ==")
    with pytest.raises(FileNotFoundError):
        tr.spark.run(spark, tmp_path / "absent*.jsonl", tr.Count("$"))
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"a": 1}\n{"a"\n')
    with pytest.raises(Exception, match="broken.jsonl: .*byte 13"):
        tr.spark.run(spark, broken, tr.Count("$.a"))


def test_an_executor_is_killed(spark, log):
    """The tasks of a killed executor run again, and the answers stay the same."""
    size = -(-log.stat().st_size // 30)
    killer = subprocess.Popen(
        [sys.executable, "-c", KILL_ONE, str(os.getpid())], stdout=subprocess.PIPE, text=True
    )
    merged = tr.spark.run_partial(spark, str(log), REQUESTS, partition_bytes=size)
    assert killer.wait(60) == 0
    assert "killed" in killer.stdout.read()
    assert merged.finish() == tr.open(log).run(*REQUESTS)


# Waits for a Python worker of an executor, and kills its executor.
KILL_ONE = """
import os, pathlib, signal, sys, time

def command(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode().replace("\\0", " ")
    except OSError:
        return ""

def parent(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1]
    except OSError:
        return "0"

for _ in range(3000):
    for pid in filter(str.isdigit, os.listdir("/proc")):
        # The daemon of an executor forks its workers.
        if "pyspark.daemon" in command(pid):
            above = parent(pid)
            while above not in ("0", "1") and "ExecutorBackend" not in command(above):
                above = parent(above)
            if "ExecutorBackend" in command(above):
                os.kill(int(above), signal.SIGKILL)
                print("killed", above)
                sys.exit(0)
    time.sleep(0.01)
sys.exit("no executor was found")
"""


def rows_of(frame):
    return [row.asDict(recursive=True) for row in frame.collect()]


def test_records_are_rows(spark, log):
    frame = spark.read.format("trommel").option("partitionBytes", "100000").load(str(log))
    assert frame.rdd.getNumPartitions() == -(-log.stat().st_size // 100_000)
    assert [field.name for field in frame.schema] == ["id", "type", "actor", "price", "tags", "big"]
    expected = list(records(RECORDS, 1))
    for row in expected:
        row["price"] = None if row["price"] is None else float(row["price"])
    assert sorted(rows_of(frame), key=lambda row: row["id"]) == expected


def test_columns_types_and_documents(spark, tmp_path, log):
    document = tmp_path / "page.json"
    document.write_text(json.dumps({"data": {"records": list(records(50, 5))}}))
    columns = {"id": "$.id", "who": "$.actor.login", "tags": "$.tags[*]"}
    reader = spark.read.format("trommel").option("rows", "$.data.records[*]")
    frame = reader.option("columns", json.dumps(columns)).load(str(document))
    assert frame.dtypes == [("id", "bigint"), ("who", "string"), ("tags", "array<string>")]
    assert frame.where("who like 'user1%'").count() == sum(
        record["actor"]["login"].startswith("user1") for record in records(50, 5)
    )
    types = tr.spark.types(spark, log, columns=columns, partitionBytes=100_000)
    typed = spark.read.format("trommel").options(columns=json.dumps(columns), types=types).load(str(log))
    assert typed.count() == RECORDS
    given = spark.read.format("trommel").schema("id long, actor struct<login: string>").load(str(log))
    assert given.where("id = 5").collect()[0].actor.login == list(records(6, 1))[5]["actor"]["login"]


FILTERS = [
    "id = 5",
    "id > 3990 and type = 'push'",
    "price = 0.1",
    "price >= 2.5 and id < 100",
    "type is not null and id <= 50",
    "type in ('fork', 'watch') and id < 30",
    "type is null and id < 30",
    "not (type = 'push') and id < 30",
    "id + 1 = 7",
    "actor.login = 'user7'",
    "big > 9223372036854775807 and id < 20",
]


def test_filters_are_evaluated_where_the_bytes_are(spark, log):
    plain = spark.read.format("trommel").load(str(log))
    pushed = spark.read.format("trommel").option("pushFilters", "true").load(str(log))
    for condition in FILTERS:
        expected, found = (sorted(rows_of(frame.where(condition)), key=str) for frame in (plain, pushed))
        assert found == expected, condition
        assert expected, condition
    plans = [frame.where("id = 5")._jdf.queryExecution().executedPlan().toString() for frame in (plain, pushed)]
    assert ["Filter (" in plan for plan in plans] == [True, False], plans


def test_the_page_runs(spark, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    page = pathlib.Path(__file__).parents[3] / "docs/CLUSTER.md"
    programs = re.findall(r"^```python\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)
    assert len(programs) == 4
    names = {}
    for program in programs:
        exec(program.replace('"log.jsonl"', repr(str(tmp_path / "log.jsonl"))), names)


def test_wrong_options(spark, log):
    for name, text, message in [
        ("row", "$.a", "there is no option row"),
        ("columns", "id", "columns is not JSON"),
        ("columns", "5", "columns must be an object"),
        ("rows", "$[", "QueryError"),
        ("numbers", "x", "numbers must be exact or float"),
    ]:
        with pytest.raises(Exception, match=message):
            spark.read.format("trommel").option(name, text).load(str(log)).collect()
    mixed = spark.read.format("trommel").schema("id string").load(str(log))
    with pytest.raises(Exception, match="log.jsonl: .*the schema wants a string"):
        mixed.collect()
    skipped = spark.read.format("trommel").option("onBadRow", "null").schema("id string").load(str(log))
    assert skipped.where("id is null").count() == RECORDS
