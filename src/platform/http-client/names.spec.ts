import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { useFolder } from '../../../test/setup/folder.js';
import { startNameServer, type NameServer } from '../../../test/setup/receivers/name-server.js';
import { candidatesOf, listedAddresses, readNameSearch } from './names.rules.js';
import { addressWithinMs, lookupBy, resolveName, sharedLookup } from './names.js';

describe('resolv.conf', () => {
  it.each([
    ['', [], 1],
    ['nameserver 10.0.0.1', [], 1],
    [
      'search shop.svc.cluster.local svc.cluster.local\noptions ndots:5 timeout:2',
      ['shop.svc.cluster.local', 'svc.cluster.local'],
      5,
    ],
    ['  search\ta.example.\tB.example # not this\r\n', ['a.example', 'b.example'], 1],
    ['search old.example\ndomain a.example ignored', ['a.example'], 1],
    ['domain old.example\nsearch .', [], 1],
    ['#search x\n; search y\noptions ndots:0\noptions rotate', [], 0],
    ['options ndots:99', [], 15],
    ['options ndots:x', [], 1],
    ['options xndots:3 ndots:3x\nsortlist ndots:3', [], 1],
  ])('%j has the domains %j and ndots %i', (text, domains, ndots) =>
    expect(readNameSearch(text)).toEqual({ domains, ndots }),
  );

  it.each([
    ['crm.shop', 5, ['crm.shop.a', 'crm.shop.b', 'crm.shop']],
    ['crm.shop', 1, ['crm.shop', 'crm.shop.a', 'crm.shop.b']],
    ['crm', 1, ['crm.a', 'crm.b', 'crm']],
    ['crm', 0, ['crm', 'crm.a', 'crm.b']],
    ['crm.shop.', 5, ['crm.shop']],
  ])('completes %s with ndots %i to %j', (name, ndots, candidates) =>
    expect(candidatesOf(name, { domains: ['a', 'b'], ndots })).toEqual(candidates),
  );
});

describe('the hosts file', () => {
  const HOSTS =
    '# 10.0.0.9 crm\n10.0.0.1\tcrm.shop CRM # old\r\nfe00::1 crm\nnonsense\n127.0.0.2 localhost\n';
  it.each([
    ['crm', ['10.0.0.1', 'fe00::1']],
    ['Crm.Shop.', ['10.0.0.1']],
    ['old', []],
    ['shop', []],
    ['localhost', ['127.0.0.2']],
    ['app.localhost', ['127.0.0.1', '::1']],
    ['localhost.example', []],
  ])('has for %s the addresses %j', (name, addresses) =>
    expect(listedAddresses(HOSTS, name)).toEqual(addresses),
  );

  it('need not name localhost', () => expect(listedAddresses('', 'localhost')).toEqual(['127.0.0.1', '::1']));
});

describe('a name', () => {
  const folder = useFolder();
  let server: NameServer;
  beforeEach(async () => {
    server = await startNameServer();
  });
  afterEach(() => server.close());

  async function resolve(
    name: string,
    { hosts = '', conf = '', signal = new AbortController().signal } = {},
  ) {
    const sources = { hosts: join(folder, 'hosts'), resolvConf: join(folder, 'resolv.conf') };
    await writeFile(sources.hosts, hosts);
    await writeFile(sources.resolvConf, conf);
    const addresses = await resolveName(name, signal, { ...sources, servers: [server.address] });
    return addresses.map(({ address, family }) => `${family} ${address}`);
  }

  it('has the addresses of both families, IPv4 first', async () => {
    server.answer = (_, type) => ({
      addresses: ['192.0.2.1', '2001:db8::1'],
      delayMs: type === 'A' ? 50 : 0,
    });
    expect(await resolve('app.example')).toEqual(['4 192.0.2.1', '6 2001:db8::1']);
  });

  it.each([
    ['192.0.2.1', '4 192.0.2.1'],
    ['2001:db8::1', '6 2001:db8::1'],
  ])('may have one family: %s', async (address, expected) => {
    server.answer = () => ({ addresses: [address] });
    expect(await resolve('app.example')).toEqual([expected]);
  });

  it('does not wait long for a name server that never responds for IPv6', async () => {
    server.answer = (_, type) => (type === 'A' ? { addresses: ['192.0.2.1'] } : null);
    expect(await resolve('app.example')).toEqual(['4 192.0.2.1']);
    expect(server.queries).toEqual(['A app.example', 'AAAA app.example']);
  });

  it('may be an alias whose other family has no address and comes long before', async () => {
    server.answer = (_, type) =>
      type === 'A' ? { isAlias: true, addresses: ['192.0.2.1'], delayMs: 1_300 } : { isAlias: true };
    expect(await resolve('app.example')).toEqual(['4 192.0.2.1']);
  });

  it('that is an alias without an address is completed, and is an error with its code', async () => {
    server.answer = (name) => ({ isAlias: true, addresses: name === 'crm' ? ['10.0.0.1'] : [] });
    expect(await resolve('crm', { conf: 'search empty.example' })).toEqual(['4 10.0.0.1']);
    await expect(resolve('app.example')).rejects.toMatchObject({ code: 'ENODATA' });
  });

  it('in the hosts file is not queried', async () => {
    expect(await resolve('crm.shop', { hosts: '10.0.0.1 crm.shop' })).toEqual(['4 10.0.0.1']);
    expect(server.queries).toEqual([]);
  });

  it('is completed as resolv.conf says', async () => {
    const conf = 'search shop.svc.cluster.local svc.cluster.local\noptions ndots:5';
    server.answer = (name) =>
      name === 'crm.shop.svc.cluster.local' ? { addresses: ['10.0.0.1'] } : { code: 3 };
    expect(await resolve('crm.shop', { conf })).toEqual(['4 10.0.0.1']);
    expect(new Set(server.queries.map((query) => query.split(' ')[1]))).toEqual(
      new Set(['crm.shop.shop.svc.cluster.local', 'crm.shop.svc.cluster.local']),
    );
  });

  it.each([2, 5])('is completed by the next domain after the response code %i', async (code) => {
    server.answer = (name) => (name === 'crm' ? { addresses: ['10.0.0.1'] } : { code });
    expect(await resolve('crm', { conf: 'search broken.example' })).toEqual(['4 10.0.0.1']);
  });

  it('that does not exist is an error with its code', async () => {
    await expect(resolve('app.example')).rejects.toMatchObject({ code: 'ENOTFOUND' });
    server.answer = () => ({});
    await expect(resolve('app.example')).rejects.toMatchObject({ code: 'ENODATA' });
  });

  it.each([
    ['A', 'AAAA'],
    ['AAAA', 'A'],
  ])(
    'is not completed after a response that is no refusal, although the one for %s came before that for %s',
    async (first) => {
      server.answer = (_, type) => (type === first ? { code: 3 } : { code: 4, delayMs: 50 });
      await expect(resolve('crm', { conf: 'search broken.example' })).rejects.toMatchObject({
        code: 'ENOTIMP',
      });
      expect(new Set(server.queries)).toEqual(new Set(['A crm.broken.example', 'AAAA crm.broken.example']));
    },
  );

  it('is given up when the signal aborts, before and during the query', async () => {
    const during = new AbortController();
    server.answer = () => {
      setImmediate(() => during.abort());
      return null;
    };
    const resolving = resolve('app.example', { conf: 'search a b', signal: during.signal });
    await expect(resolving).rejects.toMatchObject({ code: 'ECANCELLED' });
    await expect(resolve('app.example', { signal: AbortSignal.abort() })).rejects.toThrow(/abort/);
  });
});

describe('the look-ups of one host', () => {
  it('share one call while it lasts, and its error', async () => {
    const calls: ((end: LookupAddress[] | Error) => void)[] = [];
    const lookup = sharedLookup(
      () =>
        new Promise((resolve, reject) => {
          calls.push((end) => (end instanceof Error ? reject(end) : resolve(end)));
        }),
    );
    const look = (all: boolean) =>
      new Promise((resolve) => lookup('scs.example', { all }, (error, address) => resolve(error ?? address)));
    const found = [{ address: '192.0.2.1', family: 4 }];
    const first = [look(true), look(false), look(true)];
    expect(calls).toHaveLength(1);
    calls[0]!(found);
    expect(await Promise.all(first)).toEqual([found, '192.0.2.1', found]);
    const second = [look(true), look(false)];
    expect(calls).toHaveLength(2);
    const error = new Error('EAI_AGAIN');
    calls[1]!(error);
    expect(await Promise.all(second)).toEqual([error, error]);
  });
});

it.each([
  [10_000, 2_000],
  [2_000, 500],
  [101, 26],
])('within %d ms, an address of a host may take %d ms, so that another one is tried', (deadlineMs, ms) =>
  expect(addressWithinMs(deadlineMs)).toBe(ms),
);

/** Listens, and accepts no connection before `workerData` changes. With two connections in its queue, the kernel ignores further ones. */
const LATE_SERVER = `
  const { parentPort, workerData } = require('node:worker_threads');
  const server = require('node:net').createServer((socket) => socket.resume());
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    Atomics.wait(workerData, 0, 0);
  });`;

it('a host that accepts a connection late is reached, although its other address is not', async () => {
  const isOpen = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(LATE_SERVER, { eval: true, workerData: isOpen });
  const [port] = (await once(worker, 'message')) as [number];
  const queued = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
  await Promise.all(queued.map((socket) => once(socket, 'connect')));
  const addresses = [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ];
  const socket = connect({ host: 'late.example', port, lookup: lookupBy(async () => addresses) });
  socket.once('connectionAttempt', () =>
    // The first packet has been sent and ignored by then. The second follows after a second.
    setImmediate(() => {
      Atomics.store(isOpen, 0, 1);
      Atomics.notify(isOpen, 0);
    }),
  );
  try {
    await once(socket, 'connect');
    expect(socket.remoteAddress).toBe('127.0.0.1');
  } finally {
    for (const each of [socket, ...queued]) each.destroy();
    await worker.terminate();
  }
});
