import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv4 } from 'node:net';

/** The response of a name server to a query. `null`: none. */
export interface NameAnswer {
  readonly addresses?: readonly string[];
  /** The name is an alias (CNAME), with these addresses. Default: false */
  readonly isAlias?: boolean;
  /** 2: SERVFAIL, 3: NXDOMAIN, 5: REFUSED. Default: 0 */
  readonly code?: number;
  readonly delayMs?: number;
}

export interface NameServer {
  /** As `Resolver.setServers` takes it. */
  readonly address: string;
  /** The queries, such as `A crm.shop`, in the order of their arrival. A resolver repeats a query without a response. */
  readonly queries: string[];
  /** Returns the response to a query; null: none. Default: NXDOMAIN. */
  answer: (name: string, type: 'A' | 'AAAA') => NameAnswer | null;
  close(): Promise<void>;
}

const TYPES: Readonly<Record<number, 'A' | 'AAAA'>> = { 1: 'A', 28: 'AAAA' };

/** Starts a name server (RFC 1035, over UDP) on the loopback. */
export async function startNameServer(): Promise<NameServer> {
  const socket = createSocket('udp4');
  const timers = new Set<NodeJS.Timeout>();
  socket.on('message', (query, { port, address }) => {
    const { name, typeAt } = readName(query);
    const type = TYPES[query.readUInt16BE(typeAt)];
    if (type === undefined) return;
    server.queries.push(`${type} ${name}`);
    const answer = server.answer(name, type);
    if (answer === null) return;
    const response = responseTo(query.subarray(0, typeAt + 4), type, answer);
    const send = (): void => {
      timers.delete(timer);
      socket.send(response, port, address);
    };
    const timer = setTimeout(send, answer.delayMs ?? 0);
    timers.add(timer);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const server: NameServer = {
    address: `127.0.0.1:${socket.address().port}`,
    queries: [],
    answer: () => ({ code: 3 }),
    close: async () => {
      for (const timer of timers) clearTimeout(timer);
      await new Promise<void>((resolve) => socket.close(resolve));
    },
  };
  return server;
}

/** Reads the name of the question, which follows the 12 bytes of the head. */
function readName(query: Buffer): { name: string; typeAt: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join('.').toLowerCase(), typeAt: at + 1 };
}

function responseTo(question: Buffer, type: 'A' | 'AAAA', answer: NameAnswer): Buffer {
  const { addresses = [], isAlias = false, code = 0 } = answer;
  const head = Buffer.from(question.subarray(0, 12));
  const fitting = addresses.filter((address) => isIPv4(address) === (type === 'A'));
  const records = fitting.map((each) => recordOf(each, type));
  if (isAlias) records.unshift(recordWith(5, [...Buffer.from('\x04real\0')]));
  // A response with recursion, to one question, with these answers and no further records.
  head.writeUInt16BE(0x8180 | code, 2);
  for (const [index, count] of [1, records.length, 0, 0].entries()) head.writeUInt16BE(count, 4 + 2 * index);
  return Buffer.concat([head, question.subarray(12), ...records]);
}

const recordOf = (address: string, type: 'A' | 'AAAA'): Buffer =>
  type === 'A' ? recordWith(1, address.split('.').map(Number)) : recordWith(28, bytesOfIPv6(address));

function recordWith(type: number, bytes: readonly number[]): Buffer {
  const record = Buffer.alloc(12);
  // The name is that of the question, at byte 12. Class IN, without caching.
  record.writeUInt16BE(0xc00c, 0);
  record.writeUInt16BE(type, 2);
  record.writeUInt16BE(1, 4);
  record.writeUInt16BE(bytes.length, 10);
  return Buffer.concat([record, Buffer.from(bytes)]);
}

function bytesOfIPv6(address: string): number[] {
  const [before = '', after = ''] = address.split('::');
  const groups = (text: string) => text.split(':').filter((group) => group !== '');
  const missing = 8 - groups(before).length - groups(after).length;
  const all = [...groups(before), ...Array.from({ length: missing }, () => '0'), ...groups(after)];
  return all.map((group) => parseInt(group, 16)).flatMap((group) => [group >> 8, group & 0xff]);
}
