// The Node client against `trommel mcp`, over both transports and in both eras.
//
// Usage: client.mjs PROGRAM NODE_MODULES

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [program, modules] = process.argv.slice(2);
const require = createRequire(join(modules, "index.js"));
const load = async (name) => import(pathToFileURL(require.resolve(name)));
const { Client, StreamableHTTPClientTransport } = await load("@modelcontextprotocol/client");
const { StdioClientTransport } = await load("@modelcontextprotocol/client/stdio");

const everything = `node ${modules}/@modelcontextprotocol/server-everything/dist/index.js`;
const args = ["mcp", "--wrap", `every=${everything}`];

function check(condition, what) {
  if (!condition) throw new Error(`FAILED: ${what}`);
}

async function use(transport, label, options) {
  const client = new Client({ name: "node", version: "1" }, options);
  await client.connect(transport);
  const { tools } = await client.listTools();
  const names = tools.map((tool) => tool.name);
  check(names.includes("tool_outputs_read") && names.includes("every_echo"), `${label}: ${names}`);
  const echoed = await client.callTool({ name: "every_echo", arguments: { message: "hi" } });
  check(echoed.content[0].text === "Echo: hi", `${label}: ${JSON.stringify(echoed)}`);
  const listed = await client.callTool({ name: "tool_outputs_list", arguments: {} });
  check(listed.structuredContent.total === 0, `${label}: ${JSON.stringify(listed)}`);
  const { resources } = await client.listResources();
  await client.close();
  console.log(`${label}: ${names.length} tools, ${resources.length} resources`);
}

async function overStdio(label, options) {
  const home = mkdtempSync(join(tmpdir(), "trommel-"));
  const env = { ...process.env, TROMMEL_HOME: home };
  await use(new StdioClientTransport({ command: program, args, env }), label, options);
  rmSync(home, { recursive: true });
}

async function overHttp(label, options) {
  const home = mkdtempSync(join(tmpdir(), "trommel-"));
  const env = { ...process.env, TROMMEL_HOME: home };
  const server = spawn(program, [...args, "--http", "127.0.0.1:0"], { env, stdio: ["ignore", "ignore", "pipe"] });
  const url = await new Promise((resolve) => {
    let text = "";
    server.stderr.on("data", (part) => {
      text += part;
      const url = text.match(/(http:\S+)\s/);
      if (url) resolve(url[1]);
    });
  });
  await use(new StreamableHTTPClientTransport(new URL(url)), label, options);
  server.kill();
  rmSync(home, { recursive: true });
}

for (const [era, options] of [
  ["older revisions", {}],
  ["negotiated", { versionNegotiation: { mode: "auto" } }],
]) {
  await overStdio(`standard input and output, ${era}`, options);
  await overHttp(`HTTP, ${era}`, options);
}
