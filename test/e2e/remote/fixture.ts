import { createServer, type Server, type Socket } from 'node:net';
import { listen } from '../../setup/receivers/servers.js';
import { Environment } from '../../../src/platform/env/environment.js';
import type { RemoteRequest } from '../../../src/remote/outcome.rules.js';
import { Remote } from '../../../src/remote/remote.service.js';

export interface RawRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The number of the request's connection, counted from 1. */
  readonly connection: number;
}

export interface RawServer {
  readonly url: string;
  readonly requests: RawRequest[];
  readonly connections: () => number;
  readonly open: () => number;
  close(): Promise<void>;
}

/** Serves HTTP/1.1 over raw sockets, so that a test can send an invalid response. */
export async function startRawServer(
  respond: (socket: Socket, request: RawRequest) => void,
): Promise<RawServer> {
  const requests: RawRequest[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const server: Server = createServer((socket) => {
    const connection = ++connections;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => {});
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      for (let request = parse(text, connection); request; request = parse(text, connection)) {
        text = text.slice(request.length);
        requests.push(request);
        respond(socket, request);
      }
    });
  });
  return {
    url: `http://127.0.0.1:${await listen(server)}`,
    requests,
    connections: () => connections,
    open: () => sockets.size,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function parse(text: string, connection: number): (RawRequest & { length: number }) | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [first = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      line.slice(line.indexOf(':') + 1).trim(),
    ]),
  );
  const length = end + 4 + Number(headers['content-length'] ?? 0);
  if (text.length < length) return undefined;
  const [method = '', path = ''] = first.split(' ');
  return { method, path, headers, body: text.slice(end + 4, length), connection, length };
}

/** Returns a response. Writes the names of headers in capitals, as a server may. */
export function reply(status: number, body: string | Buffer, headers: Record<string, string> = {}): Buffer {
  const bytes = Buffer.from(body);
  const lines = Object.entries({
    'content-type': 'application/json',
    'content-length': `${bytes.length}`,
    ...headers,
  });
  const head = `HTTP/1.1 ${status} X\r\n${lines.map(([name, value]) => `${name.toUpperCase()}: ${value}\r\n`).join('')}\r\n`;
  return Buffer.concat([Buffer.from(head), bytes]);
}

export const CREDENTIALS = {
  SCS_API_KEY: 'api-key-canary-1',
  SCS_CLIENT_ID: 'client-id-canary-2',
  SCS_CLIENT_SECRET: 'client-secret-canary-3',
};

export function remoteEnvironment(overrides: Partial<Environment>): Environment {
  return Object.assign(new Environment(), CREDENTIALS, overrides);
}

export const startRemote = (overrides: Partial<Environment>): Remote =>
  new Remote(remoteEnvironment(overrides));

export const readSession: RemoteRequest = {
  operation: 'read_session',
  method: 'GET',
  path: '/api/v1/ssa/onboarding/pv/6f6e0a4e-7f7c-4b6f-9d0b-0e6f8f4b8f10',
};

export const registerUser: RemoteRequest = {
  operation: 'register_user',
  method: 'POST',
  path: '/api/v1/ssa/users',
  headers: { 'content-type': 'application/json' },
  body: '{"tenantReference":"r","gridLocations":[{"ean":871234567890123456}]}',
};

export const startSession: RemoteRequest = {
  operation: 'start_session',
  method: 'POST',
  path: '/api/v1/ssa/onboarding/pv/6f6e0a4e-7f7c-4b6f-9d0b-0e6f8f4b8f11',
};
