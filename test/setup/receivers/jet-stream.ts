import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';

interface Message {
  readonly subject: string;
  readonly headers: string;
  readonly body: string;
  /** The sequence of a message that was not the last; later ones were deleted. */
  readonly seq?: number;
}

/** What the server does and has seen. A test may change it at any time. */
export interface JetStream {
  readonly url: string;
  /** The stream; undefined if there is none. `config` of a created one is as the client sent it. */
  stream: { config: object; cluster?: object; lastSequence: number } | undefined;
  readonly messages: Message[];
  /** What clients have said about themselves. */
  readonly clients: {
    readonly name: string;
    readonly user?: string;
    readonly pass?: string;
    readonly auth_token?: string;
  }[];
  /** The error in the response to a request of this kind, or to the publication of the message with this number, counted from 1. */
  readonly refusals: Map<string | number, object>;
  /** The numbers of the publications that the stream has already. */
  readonly duplicates: Set<number>;
  close(): void;
}

/** The refusal that a server sends in the place of one that does not listen to the request. */
export const NO_RESPONDERS = { code: 503 };

/** Starts a server that speaks as much of the protocol of NATS and JetStream as a publisher needs. */
export async function startJetStream(
  stream?: JetStream['stream'],
  maxPayload = 1_000_000,
): Promise<JetStream> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}));
    socket.write(
      `INFO {"server_id":"a","version":"2.10.0","max_payload":${maxPayload},"headers":true,"proto":1}\r\n`,
    );
    let read = Buffer.alloc(0);
    let inbox = '';
    socket.on('data', (chunk: Buffer) => {
      read = Buffer.concat([read, chunk]);
      for (let end; (end = read.indexOf('\r\n')) !== -1;) {
        const [verb, ...words] = read.toString('utf8', 0, end).split(' ');
        const size = verb === 'PUB' || verb === 'HPUB' ? Number(words.at(-1)) : -2;
        if (read.length < end + 2 + size + 2) return;
        const payload = read.subarray(end + 2, end + 2 + size);
        read = read.subarray(end + 2 + size + 2);
        if (verb === 'CONNECT')
          jetStream.clients.push(JSON.parse(words.join(' ')) as JetStream['clients'][0]);
        if (verb === 'PING') socket.write('PONG\r\n');
        if (verb === 'SUB') inbox = words.at(-1)!;
        if (verb === 'SUB' && refusals.has('SUB'))
          socket.write(`-ERR 'Permissions Violation for Subscription to "${words[0]}"'\r\n`);
        if (size < 0) continue;
        const headers = verb === 'HPUB' ? Number(words.at(-2)) : 0;
        const message = {
          subject: words[0]!,
          headers: payload.toString('utf8', 0, headers),
          body: payload.toString('utf8', headers),
        };
        const response = responseTo(message);
        const text = JSON.stringify(response);
        if ('error' in response && response.error === NO_RESPONDERS)
          socket.write(`HMSG ${words[1]} ${inbox} 16 16\r\nNATS/1.0 503\r\n\r\n\r\n`);
        else socket.write(`MSG ${words[1]} ${inbox} ${Buffer.byteLength(text)}\r\n${text}\r\n`);
      }
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const jetStream: JetStream = {
    url: `nats://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{
      stream,
      messages: [],
      clients: [],
      refusals: new Map<string | number, object>(),
      duplicates: new Set<number>(),
    },
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
  const { messages, refusals, duplicates } = jetStream;
  return jetStream;

  function responseTo(message: Message): object {
    const [, kind] = /^\$JS\.API\.STREAM\.([A-Z.]+)\.PV_ONBOARDING$/.exec(message.subject) ?? [];
    if (kind === undefined) return publish(message);
    const error = refusals.get(kind);
    if (error !== undefined) return { error };
    if (kind === 'CREATE') jetStream.stream = { config: JSON.parse(message.body) as object, lastSequence: 0 };
    if (jetStream.stream === undefined)
      return { error: { code: 404, err_code: 10_059, description: 'stream not found' } };
    const { lastSequence: last_seq, ...info } = jetStream.stream;
    if (kind !== 'MSG.GET') return { ...info, state: { messages: messages.length, last_seq } };
    const { subject = '', headers = '', body = '', seq = last_seq } = messages.at(-1) ?? {};
    const [hdrs, data] = [headers, body].map((text) => Buffer.from(text).toString('base64'));
    return { message: { subject, seq, hdrs, data, time: new Date().toISOString() } };
  }

  function publish(message: Message): object {
    const error = refusals.get(messages.push(message));
    if (error !== undefined) return { error };
    if (duplicates.has(messages.length)) return { stream: 'PV_ONBOARDING', seq: 1, duplicate: true };
    jetStream.stream!.lastSequence += 1;
    return { stream: 'PV_ONBOARDING', seq: jetStream.stream!.lastSequence };
  }
}
