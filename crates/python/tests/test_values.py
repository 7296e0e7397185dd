"""Values, counts, and samples, against the module json."""

import decimal
import io
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time

import pytest

import trommel as tr


def test_values_of_every_source(document, rows):
    data = document.read_bytes()
    sources = [
        document,
        str(document),
        data,
        bytearray(data),
        memoryview(data),
        io.BytesIO(data),
        document.open("rb"),
        document.as_uri(),
    ]
    for source in sources:
        doc = tr.open(source)
        assert list(doc.values("$.data.records[*]")) == rows, source
        assert doc.count("$..login") == 3
    assert list(tr.open(document, trusted=True, threads=2).values("$..id")) == [1, 2, 3]


def test_forms_of_values(document):
    doc = tr.open(document)
    assert list(doc.values("$..price").raw()) == [b"0.1", b"2", b"null"]
    path, (start, end), value = next(doc.values("$.data.records[0].id").located())
    assert (path, value) == ("$['data']['records'][0]['id']", 1)
    assert document.read_bytes()[start:end] == b"1"
    assert list(doc.values("$..id", limit=2)) == [1, 2]
    assert list(tr.open(b'{"a":{"a":1}}').values("$..a", order="document")) == [{"a": 1}, 1]
    assert next(tr.open(b"[0.10]").values("$[0]", decimal=True)) == decimal.Decimal("0.10")
    values = doc.values("$..id")
    next(values)
    with pytest.raises(RuntimeError):
        values.raw()


def arbitrary(draw, depth):
    kind = draw.randrange(6 if depth == 0 else 8)
    if kind == 0:
        return draw.choice([True, False, None])
    if kind == 1:
        return draw.randrange(-10, 10)
    if kind == 2:
        return draw.randrange(-(10**40), 10**40)
    if kind == 3:
        return draw.uniform(-1e9, 1e9)
    if kind in (4, 5):
        return "".join(draw.choice('ab\u00e9\U0001f600"\\\n\x00') for _ in range(draw.randrange(5)))
    if kind == 6:
        return [arbitrary(draw, depth - 1) for _ in range(draw.randrange(4))]
    return {draw.choice("abcd"): arbitrary(draw, depth - 1) for _ in range(draw.randrange(4))}


@pytest.mark.parametrize("ascii", [True, False])
def test_values_are_those_of_json(ascii):
    draw = random.Random(7)
    values = [arbitrary(draw, 4) for _ in range(10_000)]
    text = "".join(json.dumps(value, ensure_ascii=ascii) + "\n" for value in values)
    found = list(tr.open(text.encode(), framing="jsonl").values("$"))
    assert found == values
    assert [type(value) for value in found] == [type(value) for value in values]


def test_numbers_of_any_size():
    digits = "9" * 10_000
    assert next(tr.open(f"[-{digits}]".encode()).values("$[0]")) == -(10**10_000) + 1
    assert next(tr.open(b"[1e400]").values("$[0]")) == float("inf")
    deep = b"[" * 9_000 + b"1" + b"]" * 9_000
    value = next(tr.open(deep).values("$"))
    for _ in range(9_000):
        (value,) = value
    assert value == 1


def test_counts(document):
    doc = tr.open(document).each("$.data.records[*]")
    assert doc.count("$.tags[*]") == 3
    assert doc.count("$.id", pushes="$[?@ == 'push']") == {"$.id": 3, "pushes": 2}
    assert doc.where("@.type == 'push'").count("$.id") == 2
    with pytest.raises(TypeError):
        doc.count()


def test_samples(lines):
    array = json.dumps(list(range(1000))).encode()
    sample = tr.open(array).sample("$", 10, seed=7)
    assert sample.total == 1000 and len(sample) == 10
    assert list(sample) == sample.indices == list(tr.open(io.BytesIO(array)).sample("$", 10, seed=7))
    assert sample[-1] == sample[9]
    with pytest.raises(IndexError):
        sample[10]


def test_parts(lines, rows):
    doc = tr.open(lines)
    for count in (1, 2, 5, 100):
        found = [value for number in range(count) for value in doc.part(number, count).values("$")]
        assert found == rows
    with pytest.raises(ValueError, match="single document"):
        tr.open(b"[1]").part(0, 2)


def test_errors():
    values = tr.open(b'{"a":1}\n{"a":2}\n{"a":\n', framing="jsonl").values("$.a")
    assert [next(values), next(values)] == [1, 2]
    with pytest.raises(tr.JsonError) as raised:
        next(values)
    error = raised.value
    assert (error.kind, error.offset, error.line, error.column) == ("unexpected_end", 21, 3, 6)
    assert b'{"a":' in error.excerpt and "at byte 21" in str(error)
    assert list(values) == []
    import pickle

    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.args) == (tr.JsonError, error.args)
    with pytest.raises(tr.QueryError, match="at byte"):
        tr.open(b"[]").count("$[")
    with pytest.raises(FileNotFoundError):
        tr.open("/no/such/file").count("$")
    with pytest.raises(tr.JsonError):
        list(tr.open(b'{"a":{"b":01}}').values("$.a"))
    with pytest.raises(tr.Error, match="only once"):
        doc = tr.open(Once(b"[1]"))
        assert doc.count("$[*]") == 1
        doc.count("$[*]")


class Once(io.RawIOBase):
    """A file object that cannot seek."""

    def __init__(self, data):
        self.data = io.BytesIO(data)

    def readable(self):
        return True

    def read(self, count=-1):
        return self.data.read(count)


class Odd:
    def __init__(self, answer):
        self.answer = answer

    def read(self, count):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def test_odd_file_objects():
    with pytest.raises(TypeError, match="binary mode"):
        tr.open(io.StringIO("[1]")).count("$")
    with pytest.raises(TypeError, match="not NoneType"):
        tr.open(Odd(None)).count("$")
    with pytest.raises(TypeError, match="more bytes"):
        tr.open(Odd(b"[" * 10_000_000)).count("$")
    with pytest.raises(KeyError, match="mine"):
        list(tr.open(Odd(KeyError("mine"))).values("$"))
    with pytest.raises(TypeError, match="cannot open int"):
        tr.open(7)


def test_one_file_object_serves_several_iterators():
    data = json.dumps([{"n": n, "pad": "x" * 1000} for n in range(2_000)]).encode()
    shared = tr.open(io.BytesIO(data))
    one, other = shared.values("$[*].n"), shared.values("$[*].n")
    assert [pair for pair in zip(one, other)] == [(n, n) for n in range(2_000)]


def test_progress_and_its_exceptions():
    data = json.dumps(list(range(500_000))).encode()
    seen = []
    tr.open(io.BytesIO(data), progress=lambda done, total: seen.append((done, total))).count("$[*]")
    assert seen[-1][0] == len(data) and seen == sorted(seen)

    def fail(done, total):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        tr.open(data, progress=fail).count("$[*]")
    with pytest.raises(ZeroDivisionError, match="mine"):
        list(tr.open(data, progress=fail).values("$[*]"))


class Endless(io.RawIOBase):
    """An array that never ends, as slowly as asked."""

    def __init__(self, pause=0.0):
        self.pause, self.reads, self.first = pause, 0, True

    def readable(self):
        return True

    def read(self, count=-1):
        self.reads += 1
        time.sleep(self.pause)
        start, self.first = (b"[" if self.first else b""), False
        return (start + b"1," * (count // 2))[: max(1, count // 2 * 2)] if count > 1 else (start or b" ")


def test_leaving_a_loop_stops_the_run():
    source = Endless(0.001)
    for _ in tr.open(source).values("$[*]"):
        break
    time.sleep(0.3)
    before = source.reads
    time.sleep(0.3)
    assert source.reads == before
    values = tr.open(Endless(0.001)).values("$[*]")
    next(values)
    values.close()
    assert list(values) == []


def test_interrupts(tmp_path):
    script = tmp_path / "run.py"
    script.write_text(
        "import io, sys, time\n"
        "import trommel as tr\n"
        "class Slow(io.RawIOBase):\n"
        "    def readable(self): return True\n"
        "    def read(self, count=-1):\n"
        "        time.sleep(0.01)\n"
        "        return b' '\n"
        "print('ready', flush=True)\n"
        "try:\n"
        "    tr.open(Slow()).count('$')\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted', flush=True)\n"
    )
    child = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.3)
    since = time.monotonic()
    child.send_signal(signal.SIGINT)
    assert child.stdout.readline() == "interrupted\n"
    assert time.monotonic() - since < 1
    child.wait(10)
    child.stdout.close()


def test_threads_share_a_document(document):
    doc, failed = tr.open(document), []

    def read():
        for _ in range(50):
            if list(doc.values("$..id")) != [1, 2, 3] or doc.count("$..login") != 3:
                failed.append(1)

    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_memory_is_flat(document):
    import resource

    doc = tr.open(document)
    for _ in range(200):
        list(doc.values("$..id"))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(1_000):
        list(tr.open(document).values("$..id"))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 8 << 10


def test_forks_do_not_crash(document):
    values = tr.open(document).values("$..id")
    assert next(values) == 1
    child = os.fork()
    if child == 0:
        os._exit(0 if tr.open(document).count("$..id") == 3 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert list(values) == [2, 3]


def test_interrupts_of_blocked_reads(tmp_path):
    pipe, script = tmp_path / "pipe", tmp_path / "run.py"
    os.mkfifo(pipe)
    script.write_text(
        "import sys\n"
        "import trommel as tr\n"
        "doc = tr.open(sys.argv[1])\n"
        "print('ready', flush=True)\n"
        "try:\n"
        "    list(doc.values('$[*]'))\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted', flush=True)\n"
    )
    child = subprocess.Popen([sys.executable, script, pipe], stdout=subprocess.PIPE, text=True)
    with pipe.open("wb", buffering=0) as writer:
        writer.write(b"[1,")
        assert child.stdout.readline() == "ready\n"
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline() == "interrupted\n"
        assert child.wait(10) == 0
    child.stdout.close()
