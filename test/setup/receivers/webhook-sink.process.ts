import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import type { Fate, Received, SinkRules } from './webhook-sink.js';

// A webhook receiver as an app would write it: with the Standard Webhooks library and without the code of the service.

process.once('disconnect', () => process.exit());

let rules: Record<string, SinkRules> = {};
let received: Received[] = [];

async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function verify(secret: string | undefined, bytes: Buffer, headers: IncomingMessage['headers']): boolean {
  try {
    new Webhook(secret ?? '').verify(bytes, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}

function drawFate({ fail = 0, hang = 0, reset = 0 }: SinkRules): Fate {
  const drawn = Math.random();
  if (drawn < fail) return 'failed';
  if (drawn < fail + hang) return 'hung';
  return drawn < fail + hang + reset ? 'reset' : 'taken';
}

function countTaken(): Record<string, number> {
  const ids: Record<string, Set<string>> = {};
  for (const { path, id, fate } of received) if (fate === 'taken') (ids[path] ??= new Set()).add(id);
  return Object.fromEntries(Object.entries(ids).map(([path, { size }]) => [path, size]));
}

async function take(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const at = Date.now();
  const bytes = await readBytes(request);
  const rule = rules[path] ?? {};
  const event = JSON.parse(bytes.toString()) as { subject: string; sequence: string; type: string };
  const fate = drawFate(rule);
  received.push({
    path,
    id: String(request.headers['webhook-id']),
    subject: event.subject,
    sequence: event.sequence,
    type: event.type,
    verified: verify(rule.secret, bytes, request.headers),
    headers: rule.keepsHeaders === true ? request.headers : {},
    fate,
    at,
  });
  if (rule.delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, rule.delayMs));
  if (fate === 'reset') request.socket.resetAndDestroy();
  if (fate === 'failed') response.writeHead(rule.status ?? 500, rule.answerHeaders).end(rule.answer ?? 'no');
  if (fate === 'taken') response.writeHead(204).end();
}

const server = createServer((request, response) => {
  const path = request.url ?? '/';
  void (async () => {
    if (path === '/control' && request.method === 'PUT') {
      rules = JSON.parse((await readBytes(request)).toString()) as typeof rules;
      received = [];
      response.end();
    } else if (path === '/control/taken') response.end(JSON.stringify(countTaken()));
    else if (path === '/control') response.end(JSON.stringify(received));
    else await take(path, request, response);
  })().catch(() => request.socket.destroy());
});
server.keepAliveTimeout = 30_000;
server.listen(Number(process.env.PORT ?? 0), '127.0.0.1', () =>
  process.send?.({ type: 'ready', url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }),
);
