"""The store, progress, and the command line."""

import gzip
import io
import json
import os
import pathlib
import subprocess
import sys

import pytest

import trommel as tr

PROGRAM = pathlib.Path(sys.executable).parent / "trommel"


def test_store(tmp_path):
    with tr.store(tmp_path / "outputs") as store:
        first = store.put(b'{"users": [{"name": "Ada"}]}', tool="web.fetch", parameters={"token": "s3cret-s3cret"})
        assert list(store.open(first).values("$.users[*].name")) == ["Ada"]
        described = store.describe(first[:8])
        assert (described["id"], described["kind"], described["tool_name"]) == (first, "json", "web.fetch")
        assert "s3cret" not in json.dumps(described)
        path = tmp_path / "log.jsonl"
        path.write_text('{"a": 1}\n{"a": 2}\n')
        with path.open("rb") as opened:
            stored = [
                store.put(data, tool="ci", conversation="c1")
                for data in (path, path.read_text(), opened, io.BytesIO(path.read_bytes()))
            ]
        for stored in stored:
            assert store.open(stored).count("$.a") == 2
            assert store.open(stored).part(1, 2).count("$.a") == 1
        packed = store.put(gzip.compress(path.read_bytes()), tool="ci")
        assert (store.describe(packed)["kind"], store.open(packed).count("$.a")) == ("json_lines", 2)
        store.delete(packed)
        assert [row["tool_name"] for row in store.list()] == ["ci"] * 4 + ["web.fetch"]
        assert len(store.list(conversation="c1", limit=3)) == 3
        store.delete(first)
        with pytest.raises(tr.StoreError):
            store.open(first)


def test_store_refuses(tmp_path):
    class Broken(io.RawIOBase):
        def read(self, size=-1):
            raise KeyError("broken")

    store = tr.store(tmp_path / "outputs")
    with pytest.raises(KeyError, match="broken"):
        store.put(Broken(), tool="t")
    with pytest.raises(TypeError):
        store.put(5, tool="t")
    with pytest.raises(TypeError):
        store.put(io.StringIO("text"), tool="t")
    with pytest.raises(FileNotFoundError):
        store.put(tmp_path / "absent", tool="t")
    assert store.list() == []
    store.put("{}", tool="t", id="same")
    with pytest.raises(tr.StoreError):
        store.put("{}", tool="t", id="same")
    text = store.put("not JSON", tool="t")
    assert store.describe(text)["kind"] == "text"
    with pytest.raises(tr.StoreError, match="is text"):
        store.open(text).count("$")


def test_damaged_lines_of_a_stored_log_are_reported(tmp_path):
    store = tr.store(tmp_path / "outputs")
    stored = store.put('{"a": 1}\n' * 20 + "oops\n", tool="ci")
    with pytest.warns(UserWarning, match="1 malformed record was skipped"):
        assert store.open(stored).count("$.a") == 20


def test_progress(capsys):
    data = b"[" + b"1," * 3_000_000 + b"1]"
    assert tr.open(data, progress=True).count("$[*]") == 3_000_001
    assert "100%" in capsys.readouterr().err
    assert tr.open(data, progress=False).count("$[*]") == 3_000_001
    assert list(tr.open(data, progress=True).values("$[0]")) == [1]
    with pytest.raises(TypeError):
        tr.open(data, progress="yes")


def run(*arguments, **options):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, timeout=60, **options)


def test_the_command_line(document, tmp_path):
    environment = {**os.environ, "TROMMEL_HOME": str(tmp_path / "home")}
    assert run("extract", document, "$..login").stdout == b'"ada"\n"bob"\n"cyd"\n'
    assert json.loads(run("count", "-", "$..login", input=document.read_bytes()).stdout)["total"] == 3
    missing = run("count", tmp_path / "absent.json", "$")
    assert missing.returncode == 1 and b"absent.json" in missing.stderr
    assert run("count", "--wrong").returncode == 2
    assert b"Usage" in run("--help").stdout
    stored = run("put", document, "--tool", "web.fetch", env=environment).stdout.decode().strip()
    again = subprocess.run(
        [sys.executable, "-c", f"import trommel; print(trommel.store().open({stored!r}).count('$..login'))"],
        env=environment,
        capture_output=True,
        check=True,
    )
    assert again.stdout == b"3\n"
    table = run("extract", document, "id=$.id", "--each", "$.data.records[*]", "-o", "parquet")
    assert table.stdout.startswith(b"PAR1")


def test_the_command_line_serves_tools(tmp_path):
    environment = {**os.environ, "TROMMEL_HOME": str(tmp_path)}
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    listed = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    sent = "".join(json.dumps(message) + "\n" for message in (hello, ready, listed))
    with subprocess.Popen(
        [PROGRAM, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True
    ) as server:
        server.stdin.write(sent)
        server.stdin.flush()
        answers = [json.loads(server.stdout.readline()) for _ in range(2)]
        server.stdin.close()
        assert server.wait(10) == 0
    names = [tool["name"] for tool in answers[1]["result"]["tools"]]
    assert any("extract" in name for name in names), names


def test_the_installed_configuration_names_the_script(tmp_path):
    environment = {**os.environ, "HOME": str(tmp_path), "TROMMEL_HOME": str(tmp_path / "home")}
    environment.pop("XDG_CONFIG_HOME", None)
    shown = run("mcp", "install", "--help")
    assert shown.returncode == 0
    installed = run("mcp", "install", "cursor", env=environment)
    assert str(PROGRAM) in installed.stdout.decode(), installed
