import { createServer, type AddressInfo, type Socket } from 'node:net';
import { changesAt, instant, inverterId } from './sessions.js';

// Answers sessions as cheaply as Node can: bare sockets, no HTTP parser, since whatever this process takes of the machine is
// taken from those who are measured. It understands what they send and nothing else.

export interface FakeRemoteRequest {
  readonly startedAtMs: number;
  readonly sessions: number;
  readonly contenders: readonly string[];
}

export type FakeRemoteCommand =
  | { readonly kind: 'count'; readonly contender: string; readonly reads: number }
  | { readonly kind: 'latency'; readonly latencyMs: number };

const HEAD_END = '\r\n\r\n';
const TOKEN = answer(
  JSON.stringify({ access_token: 'benchmark', expires_in: 1_209_600, token_type: 'pvcurtailment' }),
);

let latencyMs = 0;
const ports: Record<string, number> = {};
const counters = new Map<string, (reads: number) => void>();

/** One port per contender, so that each has its own count of how often a session was read. */
function serve(contender: string, { startedAtMs, sessions }: FakeRemoteRequest): Promise<void> {
  const reads = new Uint16Array(sessions);
  const started = instant(startedAtMs);
  const expires = instant(startedAtMs + 86_400_000);
  let left = Infinity;
  counters.set(contender, (count) => (left = count));

  const session = (id: string): string => {
    const index = Number(id.slice(24));
    const changes = changesAt(index, ++reads[index]!);
    const online = changes > 0;
    const updated = online ? instant(startedAtMs + changes * 60_000) : started;
    if (--left === 0) process.send?.({ kind: 'counted', contender });
    const body =
      `{"sessionId":"${id}","finished":${online},"active":${!online},"expired":false,"createdAt":"${started}",` +
      `"updatedAt":"${updated}","expiresAt":"${expires}","inverters":[${online ? `{"id":"${inverterId(index)}"}` : ''}]}`;
    return answer(body);
  };

  const respond = (socket: Socket, head: string): void => {
    const text = head.startsWith('POST') ? TOKEN : session(idOf(head));
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
        const whole = end + HEAD_END.length + bodyLength(head);
        if (received.length < whole) return;
        received = received.slice(whole);
        respond(socket, head);
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

function answer(body: string): string {
  return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}${HEAD_END}${body}`;
}

/** The last segment of the path of the request line. */
function idOf(head: string): string {
  const end = head.indexOf(' HTTP/');
  return head.slice(end - 36, end);
}

function bodyLength(head: string): number {
  if (head.startsWith('GET')) return 0;
  return Number(/content-length: *(\d+)/i.exec(head)?.[1] ?? 0);
}

process.once('message', (request: FakeRemoteRequest) => {
  void Promise.all(request.contenders.map((contender) => serve(contender, request))).then(() =>
    process.send?.({ kind: 'ready', ports }),
  );
  process.on('message', (command: FakeRemoteCommand) => {
    switch (command.kind) {
      case 'latency':
        latencyMs = command.latencyMs;
        return;
      case 'count':
        counters.get(command.contender)?.(command.reads);
    }
  });
});
process.once('disconnect', () => process.exit(0));
