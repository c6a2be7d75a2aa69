// A server of both eras on the official SDK, for real-servers:
//
//     node sdk_server.mjs stdio [modern]     `modern`: of the newer era alone
//     node sdk_server.mjs http PORT
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { McpServer, createMcpHandler } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod';

const [how, which] = process.argv.slice(2);

function rooms() {
	const server = new McpServer({ name: 'rooms', version: '0' }, { capabilities: { tools: { listChanged: true } } });
	const say = (text) => ({ content: [{ type: 'text', text }] });

	server.registerTool('repeat', { description: 'says it again', inputSchema: z.object({ what: z.string() }) },
		async ({ what }) => say(`again: ${what}`));
	server.registerTool('refuse', { description: 'says no', inputSchema: z.object({}) },
		async () => ({ ...say('no'), isError: true }));
	server.registerTool('wait', { description: 'takes a while', inputSchema: z.object({ ms: z.number() }) },
		async ({ ms }) => { await new Promise((wake) => setTimeout(wake, ms)); return say('waited'); });
	return server;
}

function answerOver(handler) {
	return async (incoming, outgoing) => {
		const body = incoming.method === 'POST' ? Readable.toWeb(incoming) : undefined;
		const answer = await handler.fetch(new Request(`http://127.0.0.1${incoming.url}`,
			{ method: incoming.method, headers: incoming.headers, body, duplex: 'half' }));

		outgoing.writeHead(answer.status, Object.fromEntries(answer.headers));
		if (answer.body)
			Readable.fromWeb(answer.body).pipe(outgoing);
		else
			outgoing.end();
	};
}

if (how === 'http')
	createServer(answerOver(createMcpHandler(rooms))).listen(Number(which), '127.0.0.1');
else
	serveStdio(rooms, { legacy: which === 'modern' ? 'reject' : 'serve' });
