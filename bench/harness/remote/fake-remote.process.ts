import { createServer, type AddressInfo, type Socket } from 'node:net';
import { fakeResponses, type FakeRemoteRequest } from './fake-responses.js';

// Uses bare sockets without a full HTTP parser: this process competes with the contenders for CPU time.

export type FakeRemoteCommand =
  | { readonly kind: 'latency'; readonly latencyMs: number }
  /** Sends `counted` after `reads` more reads. */
  | { readonly kind: 'count'; readonly contender: string; readonly reads: number };

const HEAD_END = '\r\n\r\n';
let latencyMs = 0;
const ports: Record<string, number> = {};

interface Port {
  reads: number;
}
const open = new Map<string, Port>();

/** Serves one contender on its own port, with its own count of reads. */
function serve(contender: string, request: FakeRemoteRequest): Promise<void> {
  const responseTo = fakeResponses(request);
  const port: Port = { reads: Infinity };
  open.set(contender, port);

  const respond = (socket: Socket, head: string, body: string): void => {
    const { text, isRead } = responseTo(head, body);
    if (isRead && --port.reads === 0) process.send?.({ kind: 'counted', contender });
    if (latencyMs === 0) socket.write(text, 'latin1');
    else setTimeout(() => socket.write(text, 'latin1'), latencyMs);
  };

  const server = createServer({ noDelay: true }, (socket) => {
    let received = '';
    socket.setEncoding('latin1');
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk: string) => {
      received += chunk;
      for (let end = received.indexOf(HEAD_END); end >= 0; end = received.indexOf(HEAD_END)) {
        const head = received.slice(0, end);
        const bodyAt = end + HEAD_END.length;
        const whole = bodyAt + bodyLength(head);
        if (received.length < whole) return;
        const body = received.slice(bodyAt, whole);
        received = received.slice(whole);
        respond(socket, head, body);
      }
    });
  });
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => {
      ports[contender] = (server.address() as AddressInfo).port;
      resolve();
    }),
  );
}

function bodyLength(head: string): number {
  if (head.startsWith('GET')) return 0;
  return Number(/content-length: *(\d+)/i.exec(head)?.[1] ?? 0);
}

function obey(command: FakeRemoteCommand): void {
  if (command.kind === 'latency') latencyMs = command.latencyMs;
  else open.get(command.contender)!.reads = command.reads;
}

process.once('message', (request: FakeRemoteRequest) => {
  void Promise.all(request.contenders.map((contender) => serve(contender, request))).then(() =>
    process.send?.({ kind: 'ready', ports }),
  );
  process.on('message', obey);
});
process.once('disconnect', () => process.exit(0));
