import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { endServer, listen } from '../../../setup/receivers/servers.js';

export interface ReadAnswer {
  readonly status?: number;
  readonly body: string;
}

/** createdAt, updatedAt and expiresAt as the remote service returns them for one user and its sessions. */
export interface Times {
  readonly user: readonly string[];
  readonly start: readonly string[];
  readonly read: readonly string[];
}

export interface ScriptedRemote {
  readonly url: string;
  readonly reads: ReadonlyMap<string, number>;
  /** Sets the response to all further reads of a session. */
  script(sessionId: string, read: (nth: number) => ReadAnswer): void;
  close(): Promise<void>;
}

const AT = '2026-11-20T10:00:00+01:00';
const UNTIL = '2099-11-21T10:00:00+01:00';
const TIMES: Times = { user: [AT, AT], start: [AT, AT, UNTIL], read: [AT, AT, UNTIL] };
const AS_STARTED = { finished: false, active: true };

const datesOf = ([createdAt, updatedAt, expiresAt]: readonly string[]) => ({
  createdAt,
  updatedAt,
  expiresAt,
});

/** Returns the response to a read of a session in its initial state, with `changes`. */
export const sessionBody = (sessionId: string, changes: object = {}): string =>
  JSON.stringify({
    sessionId,
    ...AS_STARTED,
    ...{ expired: false, inverters: [] },
    ...datesOf(TIMES.read),
    ...changes,
  });

export const listOf = (inverters: number): { id: string }[] =>
  Array.from({ length: inverters }, () => ({ id: randomUUID() }));

/** Starts a scripted remote service. If `timesOf` returns undefined, the response to the registration is `{}`: its outcome is unknown. */
export async function startScriptedRemote(
  timesOf: (tenantReference: string) => Times | undefined = () => TIMES,
): Promise<ScriptedRemote> {
  const reads = new Map<string, number>();
  const scripts = new Map<string, (nth: number) => ReadAnswer>();
  const timesOfId = new Map<string, Times>();

  function register(body: string): string {
    const { tenantReference } = JSON.parse(body) as { tenantReference: string };
    const times = timesOf(tenantReference);
    if (times === undefined) return '{}';
    const gridLocations = [...body.matchAll(/"ean":(\d+)/g)].map(([, ean]) => ({ id: randomUUID(), ean }));
    for (const { id } of gridLocations) timesOfId.set(id, times);
    const names = { firstName: '', lastName: '', email: '', tenantName: 'Tenant' };
    const user = { id: randomUUID(), tenantReference, ...names, ...datesOf(times.user), gridLocations };
    // Sends EANs as numbers with all their digits.
    return JSON.stringify(user).replace(/"ean":"(\d+)"/g, '"ean":$1');
  }

  function start(gridLocationId: string): string {
    const sessionId = randomUUID();
    const times = timesOfId.get(gridLocationId) ?? TIMES;
    timesOfId.set(sessionId, times);
    const startUrl = 'https://flow.example/pv-onboarding/1';
    return JSON.stringify({ sessionId, startUrl, ...AS_STARTED, ...datesOf(times.start) });
  }

  function respond(method: string, path: string, body: string): ReadAnswer {
    const id = path.split('/').at(-1)!;
    if (path.endsWith('/oauth/token'))
      return {
        body: JSON.stringify({ access_token: 'scripted-token', expires_in: 86_400, token_type: 'x' }),
      };
    if (path.endsWith('/users')) return { body: register(body) };
    if (method === 'POST') return { body: start(id) };
    const nth = (reads.get(id) ?? 0) + 1;
    reads.set(id, nth);
    return scripts.get(id)?.(nth) ?? { body: sessionBody(id, datesOf((timesOfId.get(id) ?? TIMES).read)) };
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const { status = 200, body } = respond(request.method ?? '', request.url ?? '', text);
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  }

  const server = createServer((request, response) => void serve(request, response));
  return {
    url: `http://127.0.0.1:${await listen(server)}`,
    reads,
    script: (sessionId, read) => void scripts.set(sessionId, read),
    close: () => endServer(server),
  };
}
