import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the remote service says of one user: every time verbatim. */
export interface Times {
  readonly user: readonly [createdAt: string, updatedAt: string];
  readonly start: readonly [createdAt: string, updatedAt: string, expiresAt: string];
  readonly read: readonly [createdAt: string, updatedAt: string, expiresAt: string];
}

export interface DatedRemote {
  readonly url: string;
  close(): Promise<void>;
}

const TOKEN = { access_token: 'token', expires_in: 86_400, token_type: 'pvcurtailment' };

/**
 * A remote service in this process that answers with the times of `timesOf(tenantReference)`. Where there are none, it registers the user
 * and answers `{}`, so that nobody knows what became of the registration.
 */
export async function startDatedRemote(
  timesOf: (tenantReference: string) => Times | undefined,
): Promise<DatedRemote> {
  const referenceOf = new Map<string, string>();

  function register(body: string): object {
    const { tenantReference } = JSON.parse(body) as { tenantReference: string };
    const times = timesOf(tenantReference);
    if (times === undefined) return {};
    const [createdAt, updatedAt] = times.user;
    // As text, so that no digit is lost; it goes out as a number.
    const gridLocations = [...body.matchAll(/"ean":(\d+)/g)].map(([, ean]) => ({ id: randomUUID(), ean }));
    for (const { id } of gridLocations) referenceOf.set(id, tenantReference);
    const names = { firstName: '', lastName: '', email: '', tenantName: 'Tenant' };
    return { id: randomUUID(), ...names, tenantReference, createdAt, updatedAt, gridLocations };
  }

  function session(sessionId: string, which: 'start' | 'read'): object {
    const [createdAt, updatedAt, expiresAt] = timesOf(referenceOf.get(sessionId) ?? '')?.[which] ?? [];
    return { sessionId, finished: false, active: true, createdAt, updatedAt, expiresAt };
  }

  function answer(method: string, path: string, body: string): string {
    if (path.endsWith('/oauth/token')) return JSON.stringify(TOKEN);
    if (path.endsWith('/users')) return JSON.stringify(register(body)).replace(/"ean":"(\d+)"/g, '"ean":$1');
    const id = path.split('/').at(-1)!;
    if (method === 'GET') return JSON.stringify({ ...session(id, 'read'), expired: false, inverters: [] });
    const sessionId = randomUUID();
    referenceOf.set(sessionId, referenceOf.get(id) ?? '');
    return JSON.stringify({ ...session(sessionId, 'start'), startUrl: 'https://flow.example/onboarding' });
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    response.setHeader('content-type', 'application/json');
    response.end(answer(request.method ?? '', request.url ?? '', body));
  }

  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
