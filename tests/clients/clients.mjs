// Usage: node clients.mjs SERVER... where each is the path of an example server.
// Every client lists the tools, makes a good call, and reads a refused one.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport as SSE1 } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport as Stdio1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HTTP1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Client as Client2, StreamableHTTPClientTransport as HTTP2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as Stdio2 } from "@modelcontextprotocol/client/stdio";

const info = { name: "clients", version: "1" };
const legacy = () => new Client2(info);
const modern = () => new Client2(info, { versionNegotiation: { mode: "auto" } });
const first = () => new Client1(info);
let port = 18400;

async function listening(command, args) {
  const address = `127.0.0.1:${++port}`;
  const child = spawn(command, ["-listen", address, ...args], { stdio: "inherit" });
  for (let tries = 0; ; tries++) {
    try {
      await fetch(`http://${address}/`);
      return { url: `http://${address}`, stop: () => child.kill() };
    } catch (error) {
      if (tries > 200) throw error;
      await sleep(50);
    }
  }
}

async function refusal(client, name, args) {
  try {
    await client.callTool({ name, arguments: args });
  } catch (error) {
    return error;
  }
  assert.fail(`a call of ${name} that has to be refused passed`);
}

async function exercise(title, client, transport) {
  await client.connect(transport);
  const { tools } = await client.listTools();
  assert.equal(tools.length, 25);
  const schemas = Object.fromEntries(tools.map((tool) => [tool.name, tool.inputSchema]));
  assert.equal(schemas.bernstein_update.timeoutSeconds, 30);
  assert.ok(Object.values(schemas).some((schema) => Array.isArray(schema.allOf)), "no schema has allOf");
  assert.equal(schemas.bernstein_create_subtask.properties.role.enum.length, 19);

  const goal = 'write "the" notes <&>';
  const good = await client.callTool({ name: "bernstein_run", arguments: { goal } });
  assert.equal(good.content[0].text, `called with ${JSON.stringify({ goal })}`);

  const refused = await refusal(client, "bernstein_run", { goal: "\u001b[2J", priority: 9 });
  assert.equal(refused.code, -32602);
  assert.match(refused.message, /invalid arguments for "bernstein_run": \/goal the string has 1 forbidden control character/);
  assert.deepEqual(refused.data.errors, [
    { path: "/goal", reason: "the string has 1 forbidden control character: U+001B" },
    { path: "/priority", reason: "is 9 but must be at most 3" },
  ]);
  const unknown = await refusal(client, "nobody", {});
  assert.equal(unknown.code, -32601);
  assert.equal(unknown.data.errors[0].reason, "no schema is registered for a tool of this name");

  const again = await client.callTool({ name: "bernstein_run", arguments: { goal: "x" } });
  assert.equal(again.content[0].text, 'called with {"goal":"x"}');
  await client.close();
  console.log(`ok  ${title}`);
}

for (const server of process.argv.slice(2)) {
  const name = server.split("/").pop();
  await exercise(`${name}: stdio, sdk 1`, first(), new Stdio1({ command: server }));
  await exercise(`${name}: stdio, client 2`, legacy(), new Stdio2({ command: server }));
  await exercise(`${name}: stdio, client 2, newest revision`, modern(), new Stdio2({ command: server }));
  const stateful = await listening(server, []);
  await exercise(`${name}: SSE, sdk 1`, first(), new SSE1(new URL(`${stateful.url}/sse`)));
  await exercise(`${name}: HTTP, sdk 1`, first(), new HTTP1(new URL(`${stateful.url}/mcp`)));
  await exercise(`${name}: HTTP, client 2`, legacy(), new HTTP2(new URL(`${stateful.url}/mcp`)));
  stateful.stop();
  const stateless = await listening(server, ["-stateless"]);
  await exercise(`${name}: HTTP without sessions, sdk 1`, first(), new HTTP1(new URL(`${stateless.url}/mcp`)));
  await exercise(`${name}: HTTP without sessions, client 2`, legacy(), new HTTP2(new URL(`${stateless.url}/mcp`)));
  await exercise(`${name}: HTTP without sessions, client 2, newest revision`, modern(), new HTTP2(new URL(`${stateless.url}/mcp`)));
  stateless.stop();
}
process.exit(0);
