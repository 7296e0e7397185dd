"""Guides of files and of stored outputs."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

import trommel as tr

PROGRAM = pathlib.Path(sys.executable).parent / "trommel"


@pytest.fixture
def home(tmp_path, monkeypatch):
    home = tmp_path / "home"
    monkeypatch.setenv("TROMMEL_HOME", str(home))
    monkeypatch.delenv("TROMMEL_GUIDE", raising=False)
    return home


def records(count):
    rows = [{"id": number, "name": f"name {number}", "tags": ["a", number]} for number in range(count)]
    return json.dumps({"data": {"records": rows}, "end": {"ok": True}})


def read_by(path, ask):
    """The answer, and the bytes that its run has read. Nothing is read if the shape answers."""
    done = []
    answer = ask(tr.open(path, progress=lambda bytes_read, total: done.append(bytes_read)))
    return answer, max(done, default=0)


ASKED = [
    lambda doc: doc.count("$.data.records[*]"),
    lambda doc: doc.count(ids="$.data.records[*].id", last="$.data.records[-1]"),
    lambda doc: doc.stats(),
    lambda doc: doc.schema(),
    lambda doc: list(doc.values("$.data.records[-3:].tags[*]")),
    lambda doc: list(doc.sample("$.data.records", 3, seed=7)),
    lambda doc: doc.each("$.data.records[*]").group("$.tags[0]"),
    lambda doc: doc.check(),
]


def answers(path):
    return [ask(tr.open(path)) for ask in ASKED]


def test_answers_are_the_same(home, tmp_path):
    path = tmp_path / "data.json"
    path.write_text(records(20_000))
    before = answers(path)
    subprocess.run([PROGRAM, "guide", "build", path], check=True, capture_output=True)
    assert answers(path) == before
    known, read = read_by(path, lambda doc: doc.stats())
    assert (known, read) == (before[2], 0)
    parts = tr.open(path).each("$.data.records[*]").parts(3)
    assert sum(part.count("$.id") for part in parts) == 20_000


def test_the_guide_of_a_changed_file_is_not_used(home, tmp_path):
    path = tmp_path / "data.json"
    path.write_text(records(3_000))
    subprocess.run([PROGRAM, "guide", "build", path], check=True, capture_output=True)
    doc = tr.open(path)
    assert doc.count("$.data.records[*]") == 3_000
    path.write_text(records(2_999))
    assert doc.count("$.data.records[*]") == 2_999
    subprocess.run([PROGRAM, "guide", "build", path], check=True, capture_output=True)
    assert doc.count("$.data.records[*]") == 2_999
    assert read_by(path, lambda doc: doc.stats())[1] == 0


def test_guides_can_be_refused(home, tmp_path, monkeypatch):
    path = tmp_path / "data.json"
    path.write_text(records(3_000))
    subprocess.run([PROGRAM, "guide", "build", path], check=True, capture_output=True)
    known = read_by(path, lambda doc: doc.stats())
    monkeypatch.setenv("TROMMEL_GUIDE", "off")
    read = read_by(path, lambda doc: doc.stats())
    assert (known[1], read) == (0, (known[0], os.path.getsize(path)))


def test_stored_outputs_have_guides(home):
    with tr.store() as store:
        stored = store.open(store.put(records(20_000), tool="t"))
        assert stored.count("$.data.records[*]") == 20_000
        assert list(stored.values("$.data.records[-1].id")) == [19_999]


def test_a_document_with_a_guide_has_parts(tmp_path, home):
    path = tmp_path / "one.json"
    rows = [{"id": number, "text": "x" * 200} for number in range(20_000)]
    path.write_text(json.dumps({"meta": {"id": 1}, "data": {"rows": rows}, "id": 2}))
    with pytest.raises(ValueError, match="cannot be divided"):
        tr.open(path).parts(3)
    subprocess.run([PROGRAM, "guide", "build", path], check=True)
    doc, requests = tr.open(path), [tr.Count("$..id"), tr.Count("$.data.rows[?@.id > 5]"), tr.Count("$")]
    parts = doc.parts(3)
    assert [part.range[0] for part in parts][0] == 0 and parts[-1].range[1] == 20_000
    partials = [part.run(*requests) for part in parts]
    assert tr.merge(*partials).finish() == doc.run(*requests) == [20_002, 19_994, 1]
    # Elsewhere, from the description of the part alone.
    again = [tr.open(path).within(part.cut).run(*requests).to_bytes() for part in parts]
    assert again == [partial.to_bytes() for partial in partials]
    assert [doc.part(number, 3).cut for number in range(3)] == [part.cut for part in parts]
    found = [value for part in parts for value in part.values("$..id", order="document")]
    assert found == list(doc.values("$..id", order="document"))
    stats = tr.merge(*(part.run(tr.Stats(values=True)) for part in parts)).finish()
    assert stats == doc.run(tr.Stats(values=True))
    with pytest.raises(ValueError, match="no part 9"):
        doc.part(9, 9)
    with pytest.raises(ValueError, match="not a cut"):
        doc.within("{}")
    with pytest.raises(ValueError, match="choose them before"):
        parts[0].table(columns={"id": "$.id"})
