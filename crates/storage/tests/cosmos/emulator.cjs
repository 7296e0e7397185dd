// A proxy for tests in front of an emulator of Cosmos DB. It verifies signatures, returns 404 and 413 like the service, and injects faults.
//
// Usage: `node emulator.cjs <folder with node_modules>`. It prints `identity <port>` and `listening <port>`, and exits when its standard
// input ends. `POST /_shim` with JSON configures it and resets the statistics; `GET /_shim` returns the statistics.
// `TROMMEL_EMULATOR_LOG` writes failed requests to standard error.
"use strict";

const crypto = require("node:crypto");
const http = require("node:http");
const path = require("node:path");
const { createRequire } = require("node:module");

const need = createRequire(path.join(process.argv[2], "node_modules", "x.js"));
const { createHttpServer } = need("@vercel/cosmosdb-server");

const KEY = "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIwEwSgJQ+U5bVuGN2mYhvqlOPB2G1rd5LcLrJrLhY4bYkKoYFlHDTLgxWA==";
const MAX_DOCUMENT_BYTES = 2 * 1024 * 1024;

// The faults to inject. Each request uses up one repetition of the first fault of its kind.
let faults = [];
let tokens = false;
let stats = { requests: 0, writes: 0, batches: 0, signatures: 0, tokens: 0, rejected: 0, identities: [] };

function resource(pathname) {
  const parts = pathname.split("/").filter(Boolean);
  const isName = parts.length % 2 === 0;
  const type = isName ? parts[parts.length - 2] : parts[parts.length - 1];
  const link = isName ? parts.join("/") : parts.slice(0, -1).join("/");
  return { type: type || "", link };
}

function signature(request, pathname) {
  const { type, link } = resource(pathname);
  const date = (request.headers["x-ms-date"] || "").toLowerCase();
  const text = `${request.method.toLowerCase()}\n${type.toLowerCase()}\n${link}\n${date}\n\n`;
  return crypto.createHmac("sha256", Buffer.from(KEY, "base64")).update(text).digest("base64");
}

function isAllowed(request, pathname) {
  const header = decodeURIComponent(request.headers.authorization || "");
  const fields = Object.fromEntries(header.split("&").map((part) => {
    const at = part.indexOf("=");
    return [part.slice(0, at), part.slice(at + 1)];
  }));
  if (fields.type === "aad") {
    stats.tokens += 1;
    return tokens && fields.sig === "token-of-the-loopback";
  }
  const isValid = fields.type === "master" && fields.sig === signature(request, pathname);
  stats.signatures += isValid ? 1 : 0;
  stats.rejected += isValid ? 0 : 1;
  return isValid;
}

function answer(response, status, body, headers) {
  const text = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  response.writeHead(status, { "content-type": "application/json", "content-length": text.length, ...headers });
  response.end(text);
}

function takeFault(request, pathname) {
  const isWrite = request.method === "POST" && pathname.endsWith("/docs") && !request.headers["x-ms-documentdb-isquery"];
  const kind = isWrite ? "write" : request.headers["x-ms-documentdb-isquery"] ? "query" : "other";
  const at = faults.findIndex((fault) => (fault.on || "write") === kind && fault.times > 0);
  if (at < 0) return null;
  faults[at].times -= 1;
  return faults[at];
}

function forward(request, body, done) {
  const headers = { ...request.headers, host: `127.0.0.1:${backend.address().port}` };
  delete headers["transfer-encoding"];
  headers["content-length"] = body.length;
  // The service recognizes a query of one partition range by the range; the emulator needs this header.
  if (headers["x-ms-documentdb-isquery"]) headers["x-ms-documentdb-query-enablecrosspartition"] = "True";
  const out = http.request(
    { host: "127.0.0.1", port: backend.address().port, method: request.method, path: request.url, headers },
    (reply) => {
      const parts = [];
      reply.on("data", (part) => parts.push(part));
      reply.on("end", () => done(reply.statusCode, reply.headers, Buffer.concat(parts)));
    },
  );
  out.on("error", () => done(500, {}, Buffer.from('{"code":"InternalServerError"}')));
  out.end(body);
}

// Rewrites the responses of the emulator that differ from those of the service.
function likeService(request, pathname, status, headers, body) {
  let text = body.toString("utf8");
  if (request.method === "GET" && pathname === "/") text = text.replaceAll("https://", "http://").replaceAll(`:${backend.address().port}`, `:${front.address().port}`);
  if (pathname.endsWith("/pkranges") && status === 200) {
    const ranges = JSON.parse(text);
    for (const range of ranges.PartitionKeyRanges) range.id = String(range.id);
    text = JSON.stringify(ranges);
  }
  if (status === 500 && request.method === "GET" && text.includes("Cannot read propert")) {
    status = 404;
    text = JSON.stringify({ code: "NotFound", message: "no such thing" });
  }
  const out = Buffer.from(text);
  const outHeaders = { ...headers };
  delete outHeaders["transfer-encoding"];
  outHeaders["content-length"] = out.length;
  return [status, outHeaders, out];
}

// Creates documents of other programs in the emulator, without checks.
function seed({ database, container, path: partition, documents }, done) {
  const dbs = "/dbs";
  const colls = `/dbs/${database}/colls`;
  const steps = [[dbs, { id: database }], [colls, { id: container, partitionKey: { paths: [partition], kind: "Hash" } }]];
  for (const document of documents) steps.push([`${colls}/${container}/docs`, document]);
  const next = () => {
    const step = steps.shift();
    if (!step) return done();
    const value = step[1][partition.slice(1)];
    const headers = value ? { "x-ms-documentdb-partitionkey": JSON.stringify([value]) } : {};
    const request = { headers: { ...headers, "content-type": "application/json" }, method: "POST", url: step[0] };
    return forward(request, Buffer.from(JSON.stringify(step[1])), next);
  };
  next();
}

function shim(request, response, body) {
  if (request.method === "GET") return answer(response, 200, stats);
  const commands = JSON.parse(body.toString("utf8"));
  if (commands.faults) faults = commands.faults;
  if (commands.tokens !== undefined) tokens = commands.tokens;
  stats = { requests: 0, writes: 0, batches: 0, signatures: 0, tokens: 0, rejected: 0, identities: [] };
  if (commands.seed) return seed(commands.seed, () => answer(response, 200, {}));
  return answer(response, 200, {});
}

function serve(request, response, body) {
  const pathname = request.url.split("?")[0];
  if (pathname === "/_shim") return shim(request, response, body);
  stats.requests += 1;
  if (!isAllowed(request, decodeURIComponent(pathname))) {
    return answer(response, 401, { code: "Unauthorized", message: "The input authorization token can't serve the request." });
  }
  const isWrite = request.method === "POST" && pathname.endsWith("/docs") && !request.headers["x-ms-documentdb-isquery"];
  stats.writes += isWrite ? 1 : 0;
  const fault = takeFault(request, pathname);
  if (fault && fault.drop) return request.socket.destroy();
  if (fault && fault.status) {
    const wait = fault.wait === undefined ? {} : { "x-ms-retry-after-ms": String(fault.wait) };
    return answer(response, fault.status, { code: "Fault", message: fault.message || "on demand" }, wait);
  }
  if (request.headers["x-ms-cosmos-is-batch-request"]) {
    stats.batches += 1;
    return answer(response, 400, { code: "BadRequest", message: "no batches here" });
  }
  if (isWrite && body.length > MAX_DOCUMENT_BYTES) return answer(response, 413, { code: "RequestEntityTooLarge", message: "too large" });
  return forward(request, body, (status, headers, text) => {
    // The request took effect, but its response is lost or delayed.
    if (fault && fault.dropAfter) return request.socket.destroy();
    const [code, outHeaders, out] = likeService(request, pathname, status, headers, text);
    if (process.env.TROMMEL_EMULATOR_LOG && code >= 400) process.stderr.write(`${request.method} ${request.url} ${body} ${code} ${out}\n`);
    return setTimeout(() => response.writeHead(code, outHeaders).end(out), (fault && fault.delay) || 0);
  });
}

function collectBody(then) {
  return (request, response) => {
    const parts = [];
    request.on("data", (part) => parts.push(part));
    request.on("end", () => then(request, response, Buffer.concat(parts)));
  };
}

// Issues tokens like the identity endpoint of a machine in Azure.
const identity = http.createServer((request, response) => {
  stats.identities.push({ url: request.url, header: request.headers["x-identity-header"] });
  const until = Math.floor(Date.now() / 1000) + 3600;
  answer(response, 200, { access_token: "token-of-the-loopback", expires_on: String(until), resource: "x", token_type: "Bearer" });
});

const backend = createHttpServer({ keepAlive: true });
const front = http.createServer(collectBody(serve));
backend.listen(0, "127.0.0.1", () => {
  front.listen(0, "127.0.0.1", () => {
    identity.listen(0, "127.0.0.1", () => {
      process.stdout.write(`identity ${identity.address().port}\nlistening ${front.address().port}\n`);
    });
  });
});
process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
process.stdin.on("error", () => process.exit(0));
