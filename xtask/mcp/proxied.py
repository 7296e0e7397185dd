"""A client of the conformance suite: wraps the server at a URL, and uses all that it offers.

Usage: proxied.py PROGRAM URL. The scenario and its context are in the environment.
"""

import json
import os
import subprocess
import sys
import tempfile


class Client:
    """A client of `trommel mcp` over standard input and output, of the newest revision."""

    def __init__(self, program, url, home):
        self.number = 0
        environment = dict(os.environ, TROMMEL_HOME=home)
        command = [program, "mcp", "--wrap", f"server={url}"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True
        )

    def request(self, method, params):
        self.number += 1
        params["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "proxied", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
        }
        message = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            answer = json.loads(line)
            if answer.get("id") == self.number and "method" not in answer:
                return answer
        raise SystemExit("the server ended")

    def call(self, name, arguments):
        """Calls a tool, and accepts what it asks for with the defaults."""
        params = {"name": name, "arguments": arguments}
        for _ in range(5):
            result = self.request("tools/call", dict(params)).get("result", {})
            if result.get("resultType") != "input_required":
                return result
            params["inputResponses"] = {
                key: {"action": "accept", "content": defaults(question["params"]["requestedSchema"])}
                for key, question in result.get("inputRequests", {}).items()
            }
            params.pop("requestState", None)
            if "requestState" in result:
                params["requestState"] = result["requestState"]
        raise SystemExit(f"{name} asks for input again and again")


def defaults(schema):
    properties = schema.get("properties", {})
    values = {"string": "x", "integer": 1, "number": 1, "boolean": True}
    return {name: one.get("default", values.get(one.get("type"))) for name, one in properties.items()}


def arguments(schema):
    """Arguments that a schema allows."""
    values = {"string": "x", "integer": 1, "number": 1, "boolean": True, "object": {}, "array": []}
    properties = schema.get("properties", {})
    return {name: values.get(one.get("type"), "x") for name, one in properties.items()}


def main():
    program, url = sys.argv[1], sys.argv[2]
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    given = {call["name"]: call["arguments"] for call in context.get("toolCalls", [])}
    with tempfile.TemporaryDirectory() as home:
        client = Client(program, url, home)
        tools = client.request("tools/list", {})["result"]["tools"]
        for tool in tools:
            own = tool["name"].removeprefix("server_")
            if own == "json_schema_echo":
                # To show that schemas pass unchanged.
                schemas = {one["name"]: one["inputSchema"] for one in tools}
                client.call(tool["name"], {"schema": schemas["server_json_schema_2020_12_tool"]})
            elif own != tool["name"]:
                client.call(tool["name"], given.get(own, arguments(tool["inputSchema"])))
        for resource in client.request("resources/list", {})["result"]["resources"]:
            client.request("resources/read", {"uri": resource["uri"]})
        for prompt in client.request("prompts/list", {})["result"]["prompts"]:
            client.request("prompts/get", {"name": prompt["name"]})
        client.process.stdin.close()
        client.process.wait(10)


main()
