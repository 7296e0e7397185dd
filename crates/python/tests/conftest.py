"""Shared inputs."""

import json

import pytest

ROWS = [
    {"id": 1, "type": "push", "actor": {"login": "ada"}, "tags": ["a", "b"], "price": 0.1},
    {"id": 2, "type": "fork", "actor": {"login": "bob"}, "tags": [], "price": 2},
    {"id": 3, "type": "push", "actor": {"login": "cyd"}, "tags": ["c"], "price": None},
]


@pytest.fixture
def rows():
    return ROWS


@pytest.fixture
def document(tmp_path):
    path = tmp_path / "events.json"
    path.write_text(json.dumps({"data": {"records": ROWS}}))
    return path


@pytest.fixture
def lines(tmp_path):
    path = tmp_path / "events.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path
