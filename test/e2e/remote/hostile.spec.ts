import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from '@jest/globals';
import axios from 'axios';
import {
  type Fields,
  readArray,
  readBoolean,
  readObject,
  readUuid,
} from '../../../src/remote/wire/read-field.js';
import { outcomeOf, UnreadableResponse } from '../../../src/remote/wire/read-response.js';
import type { Outcome, RemoteResponse } from '../../../src/remote/outcome.rules.js';
import type { Remote } from '../../../src/remote/remote.service.js';
import { watchLoop } from '../../faults/support/evidence/loop-watch.js';
import { inTime, itAtLength, promise } from '../../faults/support/promise.js';
import { readSession, reply, startRawServer, startRemote } from './fixture.js';
import { closeAfterEach } from '../../setup/close-after-each.js';

const closing = closeAfterEach();

/** The longest time for which reading a response may block the event loop. */
const BLOCKED_MS = 150;
const ID = '6f6e0a4e-7f7c-4b6f-9d0b-0e6f8f4b8f10';
const GOOD = JSON.stringify({ sessionId: ID, finished: false, inverters: [] });

function read(response: RemoteResponse): { id: string; finished: boolean; inverters: number } {
  const fields: Fields = readObject(response.body);
  const id = readUuid(fields, 'sessionId');
  if (id !== ID) throw new UnreadableResponse('about another session');
  return { id, finished: readBoolean(fields, 'finished'), inverters: readArray(fields, 'inverters').length };
}

const HOSTILE: Record<string, Buffer> = {
  '50 MB': reply(200, Buffer.alloc(50 * 1024 * 1024, ' ')),
  'a gzip bomb of 50 MB': reply(200, gzipSync(Buffer.alloc(50 * 1024 * 1024)), {
    'content-encoding': 'gzip',
  }),
  'depth 50,000': reply(200, '['.repeat(50_000) + ']'.repeat(50_000)),
  'depth 50,000 within a field': reply(200, `{"sessionId":${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}}`),
  'HTML with status 200': reply(200, '<!doctype html><title>Maintenance</title>', {
    'content-type': 'text/html',
  }),
  'an empty body': reply(200, ''),
  'no body at all': Buffer.from('HTTP/1.1 204 No Content\r\n\r\n'),
  null: reply(200, 'null'),
  'an array': reply(200, '[]'),
  'an empty string': reply(200, '""'),
  'NUL bytes': reply(200, '\0\0\0\0'),
  'half of a surrogate pair': reply(200, '{"sessionId":"\\ud800","finished":true,"inverters":[]}'),
  'another session': reply(200, GOOD.replace(ID, ID.replace('6', '7'))),
  'bytes that are not UTF-8': reply(200, Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0xc0, 0x22])),
  'wrong types': reply(200, '{"sessionId":7,"finished":"false","inverters":{}}'),
  'inherited names': reply(200, '{"__proto__":{"finished":true},"constructor":1}'),
};

describe('R23: a hostile response is contained', () => {
  let mostMb = 0;
  let longestMs = 0;

  afterAll(() =>
    promise('R23', {
      figure: `${Math.round(mostMb)} MB more and ${Math.round(longestMs)} ms without a break at most, 0 crashes, ${Object.keys(HOSTILE).length} hostile responses`,
      bound: `64 MB, ${BLOCKED_MS} ms, 0`,
    }),
  );

  async function serve(): Promise<Remote> {
    const server = await startRawServer((socket, { path }) => {
      const name = decodeURIComponent(path.slice(1));
      const hostile = HOSTILE[name];
      if (hostile) socket.write(hostile);
      else socket.write(name === 'bom' ? reply(200, `\ufeff${GOOD}`) : reply(200, GOOD));
    });
    const remote = startRemote({ SCS_BASE_URL: server.url });
    closing.push(server.close, () => remote.onApplicationShutdown());
    return remote;
  }

  async function get(remote: Remote, name: string): Promise<Outcome<unknown>> {
    const sent = await remote.send({ ...readSession, path: `/${encodeURIComponent(name)}` });
    const loop = watchLoop();
    const outcome = outcomeOf(sent, read);
    const blockedMs = loop.end();
    longestMs = Math.max(longestMs, blockedMs);
    expect(blockedMs).toBeLessThan(inTime(BLOCKED_MS));
    return outcome;
  }

  it.each(Object.keys(HOSTILE))('is unreadable, and other calls continue: %s', async (name) => {
    const remote = await serve();
    const before = process.memoryUsage().rss;
    const [hostile, ...others] = await Promise.all([
      get(remote, name),
      ...Array.from({ length: 10 }, () => get(remote, 'good')),
    ]);
    expect(hostile).toMatchObject({ kind: 'unreadable' });
    for (const other of others)
      expect(other).toEqual({ kind: 'done', value: { id: ID, finished: false, inverters: 0 } });
    const grownMb = (process.memoryUsage().rss - before) / 1024 / 1024;
    mostMb = Math.max(mostMb, grownMb);
    // Includes the memory of the test's server, which runs in this process.
    expect(grownMb).toBeLessThan(64);
  });

  itAtLength('would be red with the defaults of axios', async () => {
    const server = await startRawServer((socket) => socket.write(HOSTILE['50 MB']!));
    closing.push(server.close);
    const { data } = await axios.get<string>(server.url);
    expect(data).toHaveLength(50 * 1024 * 1024);
  });

  it('is read if it only has a byte order mark', async () => {
    expect(await get(await serve(), 'bom')).toMatchObject({ kind: 'done' });
  });

  it('with 10,000 inverters is read without blocking the event loop for long', async () => {
    const many = JSON.stringify({
      sessionId: ID,
      finished: true,
      inverters: Array.from({ length: 10_000 }, () => ({ id: ID })),
    });
    const server = await startRawServer((socket) => socket.write(reply(200, many)));
    const remote = startRemote({ SCS_BASE_URL: server.url });
    closing.push(server.close, () => remote.onApplicationShutdown());
    const sent = await remote.send(readSession);
    const loop = watchLoop();
    expect(outcomeOf(sent, read)).toMatchObject({ kind: 'done', value: { inverters: 10_000 } });
    const tookMs = loop.end();
    promise('R23', { figure: `${Math.round(tookMs)} ms for 10,000 inverters`, bound: `${BLOCKED_MS} ms` });
    expect(tookMs).toBeLessThan(inTime(BLOCKED_MS));
  });
});
