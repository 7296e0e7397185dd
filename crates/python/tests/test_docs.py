"""The programs of docs/PYTHON.md, in order."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[3]


def test_the_page_runs(monkeypatch, tmp_path):
    pytest.importorskip("polars")
    (tmp_path / "testdata").symlink_to(ROOT / "testdata")
    monkeypatch.chdir(tmp_path)
    programs = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs/PYTHON.md").read_text(), re.DOTALL | re.MULTILINE)
    assert len(programs) == 7
    names = {}
    for program in programs:
        exec(program, names)
    assert (tmp_path / "orders.parquet").exists()
