// The official TypeScript client: lists the tools, makes the calls it is given, prints what came back.
// node client.mjs ADDRESS TOKEN CALLS-AS-JSON
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [address, token, calls] = process.argv.slice(2);
const headers = { Authorization: `Bearer ${token}` };
const client = new Client({ name: "crewsite-test", version: "1" });
await client.connect(new StreamableHTTPClientTransport(new URL(address), { requestInit: { headers } }));
const tools = (await client.listTools()).tools.map((tool) => tool.name);
const answers = [];
for (const [name, given] of JSON.parse(calls)) {
  const answer = await client.callTool({ name, arguments: given });
  answers.push({ name, isError: Boolean(answer.isError), text: answer.content[0].text, structured: answer.structuredContent });
}
console.log(JSON.stringify({ tools, answers }));
await client.close();
