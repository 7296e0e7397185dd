"""The Python client against `trommel mcp`: both eras, both transports, and three wrapped servers.

Usage: client.py PROGRAM NODE_MODULES. Prints a line for each check, and fails at the first that does
not hold.
"""

import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

PROGRAM, NODE_MODULES = sys.argv[1], Path(sys.argv[2])
HERE = Path(__file__).parent
PACKAGES = NODE_MODULES / "@modelcontextprotocol"
EVERYTHING = f"node {PACKAGES}/server-everything/dist/index.js"
FILES = f"node {PACKAGES}/server-filesystem/dist/index.js"

# Arguments for our tools that need some.
OWN = {
    "buffer_ops": {"operation": "list"},
    "session": {"operation": "list"},
    "tool_outputs_aggregate": {"each": "$[*]", "by": ["$"]},
    "tool_outputs_count": {"counts": [{"name": "all", "path": "$"}]},
    "tool_outputs_extract": {"paths": ["$[0]"]},
    "tool_outputs_sample": {"path": "$[*]", "size": 1},
    "tool_outputs_search": {"pattern": "a"},
}

# Tools of server-everything with the same answer for the same arguments.
SAME = {
    "echo": {"message": "hello é \U0001f600"},
    "get-annotated-message": {"messageType": "success", "includeImage": True},
    "get-resource-links": {"count": 3},
    "get-structured-content": {"location": "New York"},
    "get-sum": {"a": 1, "b": 2},
    "get-tiny-image": {},
}


def check(condition, what):
    if not condition:
        raise SystemExit(f"FAILED: {what}")


def environment(home):
    return dict(os.environ, TROMMEL_HOME=home, HOME=home)


def wraps(folder):
    python = f"{sys.executable} {HERE / 'server.py'}"
    wrapped = {"test": python, "every": EVERYTHING, "files": f"{FILES} {folder}"}
    return [word for name, command in wrapped.items() for word in ("--wrap", f"{name}={command}")]


def over_stdio(home, args):
    server = StdioServerParameters(command=PROGRAM, args=["mcp", *args], env=environment(home))
    return stdio_client(server)


class Http:
    """A server over HTTP."""

    def __init__(self, home, args):
        command = [PROGRAM, "mcp", "--http", "127.0.0.1:0", *args]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, env=environment(home), text=True)
        self.url = self.process.stderr.readline().split()[-1]

    def __enter__(self):
        return self.url

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(10)


async def use(client, label):
    """Lists all, and calls all of our tools and one of each server."""
    names = [tool.name for tool in (await client.list_tools()).tools]
    check(len(names) == len(set(names)), f"{label}: names are unique")
    stored = await client.call_tool("test_big", {"characters": 200_000})
    text = stored.content[0].text
    check("as output" in text and len(text) < 2_000, f"{label}: a manifest: {text}")
    identifier = text.split("as output ")[1].split(":")[0]
    for name in names:
        if name in OWN or name.startswith("tool_outputs_"):
            arguments = dict(OWN.get(name, {}))
            if name.startswith("tool_outputs_") and name != "tool_outputs_list":
                arguments["id"] = identifier
            answer = await client.call_tool(name, arguments)
            # A text has no paths: such a call is refused with a reason.
            check(answer.content and answer.content[0].text, f"{label}: {name} answers: {answer}")
    echoed = await client.call_tool("every_echo", {"message": "hi"})
    check(echoed.content[0].text == "Echo: hi", f"{label}: {echoed}")
    failed = await client.call_tool("test_error_handling", {})
    check(failed.is_error, f"{label}: an error is an error: {failed}")
    uris = [str(one.uri) for one in (await client.list_resources()).resources]
    check(f"trommel://output/{identifier}" in uris and "test://static-text" in uris, f"{label}: {uris}")
    read = await client.read_resource(f"trommel://output/{identifier}")
    check("0123456789 line" in read.contents[0].text, f"{label}: {str(read)[:200]}")
    prompt = await client.get_prompt("test_prompt_with_arguments", {"arg1": "a", "arg2": "b"})
    check("arg1='a'" in str(prompt), f"{label}: {prompt}")
    print(f"{label}: {len(names)} tools, {len(uris)} resources")


async def each_way(folder):
    for mode in ("auto", "legacy"):
        with tempfile.TemporaryDirectory() as home:
            async with Client(over_stdio(home, wraps(folder)), mode=mode) as client:
                await use(client, f"standard input and output, {mode}")
        with tempfile.TemporaryDirectory() as home, Http(home, wraps(folder)) as url:
            async with Client(url, mode=mode) as client:
                await use(client, f"HTTP, {mode}")


async def transparent(folder):
    """Results below the limit are those of the server itself."""
    program, *args = EVERYTHING.split()
    direct = stdio_client(StdioServerParameters(command=program, args=args))
    with tempfile.TemporaryDirectory() as home:
        async with Client(direct) as alone, Client(over_stdio(home, wraps(folder))) as wrapped:
            for name, arguments in SAME.items():
                one = await alone.call_tool(name, arguments)
                other = await wrapped.call_tool("every_" + name.replace("-", "_"), arguments)
                same = [json.loads(result.model_dump_json(exclude={"meta"})) for result in (one, other)]
                check(same[0] == same[1], f"{name}: {same}")
    print(f"{len(SAME)} results of server-everything are the same through the proxy")


async def story(folder):
    """Five questions about 50 MB of JSON."""
    users = (
        {"id": number, "name": f"user {number}", "country": "CH" if number % 3 else "DE", "score": number / 2}
        for number in range(700_000)
    )
    path = folder / "users.json"
    with path.open("w") as file:
        file.write('{"users":[')
        for number, user in enumerate(users):
            file.write(("," if number else "") + json.dumps(user))
        file.write("]}")
    chars = 0
    with tempfile.TemporaryDirectory() as home:
        async with Client(over_stdio(home, wraps(folder)), read_timeout_seconds=120) as client:
            read = await client.call_tool("files_read_text_file", {"path": str(path)})
            manifest = read.content[0].text
            check(len(manifest) < 2_000, f"a manifest of {len(manifest)} characters")
            identifier = manifest.split("as output ")[1].split(":")[0]
            for tool, arguments in (
                ("stats", {}),
                ("count", {"counts": [{"name": "users", "path": "$.users"}]}),
                ("extract", {"paths": ["$.users[?@.id == 654321].name"]}),
                ("aggregate", {"each": "$.users[*]", "by": ["$.country"], "sum": ["$.score"]}),
                ("search", {"pattern": "user 12345"}),
            ):
                answer = await client.call_tool(f"tool_outputs_{tool}", {"id": identifier, **arguments})
                check(not answer.is_error, f"{tool}: {answer}")
                chars += sum(len(block.text) for block in answer.content)
                if tool == "count":
                    check(answer.structured_content["counts"]["users"] == 700_000, f"{answer}")
    check(chars < 10_000, f"{chars} characters in five answers")
    size = path.stat().st_size / 1e6
    print(f"{size:.0f} MB: a manifest of {len(manifest)} characters, and five answers of {chars} in all")


def main():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder).resolve()
        (folder / "a.txt").write_text("a file\n")
        asyncio.run(each_way(folder))
        asyncio.run(transparent(folder))
        asyncio.run(story(folder))


main()
