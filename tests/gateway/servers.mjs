// Usage: node servers.mjs SALLYPORT. Published servers behind the gateway, on standard
// streams and through its HTTP side, driven by published clients.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as Stdio1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HTTP1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CreateMessageRequestSchema, ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { Client as Client2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as Stdio2 } from "@modelcontextprotocol/client/stdio";

const sallyport = process.argv[2];
const bin = (name) => join(process.cwd(), "node_modules/.bin", name);
const folder = mkdtempSync(join(tmpdir(), "sallyport-"));
writeFileSync(join(folder, "note.txt"), "a note");

const servers = {
  everything: {
    command: [bin("mcp-server-everything")],
    good: { name: "echo", arguments: { message: "hello" } },
    says: "hello",
    bad: { name: "echo", arguments: { message: 7 } },
    path: "/message",
  },
  filesystem: {
    command: [bin("mcp-server-filesystem"), folder],
    good: { name: "read_text_file", arguments: { path: join(folder, "note.txt") } },
    says: "a note",
    bad: { name: "read_text_file", arguments: { path: ["a"], head: "x" } },
    path: "/head",
  },
  memory: {
    command: [bin("mcp-server-memory")],
    good: { name: "read_graph", arguments: {} },
    says: "entities",
    bad: { name: "create_entities", arguments: { entities: [{ name: "Ada" }] } },
    path: "/entities/0/entityType",
  },
};

async function refusal(client, call) {
  try {
    await client.callTool(call);
  } catch (error) {
    return error;
  }
  assert.fail(`${JSON.stringify(call)} passed`);
}

async function exercise(title, server, client, transport) {
  await client.connect(transport);
  const { tools } = await client.listTools();
  assert.ok(tools.some((tool) => tool.name === server.good.name), `${server.good.name} is not listed`);
  const good = await client.callTool(server.good);
  assert.ok(JSON.stringify(good.content).includes(server.says), JSON.stringify(good));
  const refused = await refusal(client, server.bad);
  assert.equal(refused.code, -32602);
  assert.ok(refused.data.errors.some((error) => error.path === server.path), JSON.stringify(refused.data));
  assert.equal((await refusal(client, { name: "nobody", arguments: {} })).code, -32601);
  assert.ok((await client.callTool(server.good)).content.length > 0);
  await client.close();
  console.log(`ok  ${title}`);
}

// Progress, cancellation, sampling and elicitation go both ways.
async function conversation(title, transport) {
  const client = new Client1({ name: "servers", version: "1" }, { capabilities: { sampling: {}, elicitation: {} } });
  client.setRequestHandler(CreateMessageRequestSchema, () => ({ model: "m", role: "assistant", content: { type: "text", text: "sampled" } }));
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: "decline" }));
  await client.connect(transport);
  const names = (await client.listTools()).tools.map((tool) => tool.name);
  const long = names.find((name) => /long.?running/i.test(name));
  let steps = 0;
  await client.callTool({ name: long, arguments: { duration: 1, steps: 4 } }, undefined, { onprogress: () => steps++ });
  assert.ok(steps >= 3, `${steps} notifications of progress`);
  const abort = new AbortController();
  const cancelled = client.callTool({ name: long, arguments: { duration: 30, steps: 30 } }, undefined, { signal: abort.signal });
  await sleep(200);
  abort.abort();
  await assert.rejects(cancelled);
  const sampling = names.find((name) => /sampling/i.test(name) && !/research|async|bidirectional/i.test(name));
  const sampled = await client.callTool({ name: sampling, arguments: { prompt: "p", maxTokens: 10 } });
  assert.ok(JSON.stringify(sampled.content).includes("sampled"), JSON.stringify(sampled));
  const elicitation = names.find((name) => /elicitation/i.test(name) && !/async|url/i.test(name));
  assert.ok((await client.callTool({ name: elicitation, arguments: {} })).content.length > 0);
  await client.close();
  console.log(`ok  ${title}: progress, cancellation, sampling, elicitation`);
}

async function behindHTTP(port, command, use) {
  const address = `127.0.0.1:${port}`;
  const gateway = spawn(sallyport, ["gateway", "--log-level", "error", "--listen", address, "--", ...command], { stdio: "inherit" });
  const ended = new Promise((resolve) => gateway.on("exit", resolve));
  for (let tries = 0; ; tries++) {
    try {
      await fetch(`http://${address}/`);
      break;
    } catch (error) {
      if (tries > 200) throw error;
      await sleep(50);
    }
  }
  await use(new URL(`http://${address}/mcp`));
  gateway.kill();
  await ended;
}

let port = 18600;
const info = { name: "servers", version: "1" };
for (const [name, server] of Object.entries(servers)) {
  const args = ["gateway", "--log-level", "error", "--", ...server.command];
  const command = { command: sallyport, args, stderr: "ignore" };
  await exercise(`${name}: stdio, sdk 1`, server, new Client1(info), new Stdio1(command));
  await exercise(`${name}: stdio, client 2`, server, new Client2(info), new Stdio2(command));
  await exercise(`${name}: stdio, client 2, newest revision`, server, new Client2(info, { versionNegotiation: { mode: "auto" } }), new Stdio2(command));
  await behindHTTP(++port, server.command, (url) => exercise(`${name}: HTTP, sdk 1`, server, new Client1(info), new HTTP1(url)));
  if (name === "everything") {
    await conversation("everything: stdio", new Stdio1(command));
    await behindHTTP(++port, server.command, (url) => conversation("everything: HTTP", new HTTP1(url)));
  }
  // The inspector takes what follows "--" for its own, so a script stands for the gateway.
  const script = join(folder, `${name}.sh`);
  writeFileSync(script, `#!/bin/sh\nexec ${[sallyport, ...args].join(" ")}\n`, { mode: 0o755 });
  const inspect = (...more) => execFileSync(join(process.cwd(), "node_modules/node/bin/node"), [bin("inspector"), "--cli", script, ...more], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  assert.ok(inspect("--method", "tools/list").includes(server.good.name));
  const given = Object.entries(server.good.arguments).flatMap(([key, value]) => ["--tool-arg", `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`]);
  assert.ok(inspect("--method", "tools/call", "--tool-name", server.good.name, ...given).includes(server.says));
  console.log(`ok  ${name}: inspector`);
}
process.exit(0);
