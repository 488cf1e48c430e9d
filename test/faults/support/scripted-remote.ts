import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReadAnswer {
  readonly status?: number;
  readonly body: string;
}

export interface ScriptedRemote {
  readonly url: string;
  /** How often each session was read. */
  readonly reads: ReadonlyMap<string, number>;
  /** From now on, what a session is read as. */
  script(sessionId: string, read: (nth: number) => ReadAnswer): void;
  close(): Promise<void>;
}

const AT = '2026-11-20T10:00:00+01:00';
const SESSION = { createdAt: AT, updatedAt: AT, expiresAt: '2099-11-21T10:00:00+01:00' };
const AS_STARTED = { finished: false, active: true, expired: false, inverters: [] };

/** The response about a session that is as it was started, but for `changes`. */
export const sessionBody = (sessionId: string, changes: object = {}): string =>
  JSON.stringify({ sessionId, ...AS_STARTED, ...SESSION, ...changes });

export const listOf = (inverters: number): { id: string }[] =>
  Array.from({ length: inverters }, () => ({ id: randomUUID() }));

/** A remote service in this process that registers and starts as the interface says, and answers reads as it is told. */
export async function startScriptedRemote(): Promise<ScriptedRemote> {
  const reads = new Map<string, number>();
  const scripts = new Map<string, (nth: number) => ReadAnswer>();

  function answer(method: string, path: string, body: string): ReadAnswer {
    const id = path.split('/').at(-1)!;
    if (path.endsWith('/oauth/token'))
      return { body: JSON.stringify({ access_token: 'token', expires_in: 86_400, token_type: 'x' }) };
    if (path.endsWith('/users')) return { body: registered(body) };
    if (method === 'POST') {
      const startUrl = 'https://flow.example/pv-onboarding/1';
      const { expired: _, inverters: __, ...flags } = AS_STARTED;
      return { body: JSON.stringify({ sessionId: randomUUID(), startUrl, ...flags, ...SESSION }) };
    }
    const nth = (reads.get(id) ?? 0) + 1;
    reads.set(id, nth);
    return scripts.get(id)?.(nth) ?? { body: sessionBody(id) };
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const { status = 200, body } = answer(request.method ?? '', request.url ?? '', text);
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  }

  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    reads,
    script: (sessionId, read) => void scripts.set(sessionId, read),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function registered(body: string): string {
  const { tenantReference } = JSON.parse(body) as { tenantReference: string };
  const gridLocations = [...body.matchAll(/"ean":(\d+)/g)].map(([, ean]) => ({ id: randomUUID(), ean }));
  const names = { firstName: '', lastName: '', email: '', tenantName: 'Tenant' };
  const user = { id: randomUUID(), tenantReference, ...names, createdAt: AT, updatedAt: AT, gridLocations };
  // An EAN goes out as a number with all of its digits.
  return JSON.stringify(user).replace(/"ean":"(\d+)"/g, '"ean":$1');
}
