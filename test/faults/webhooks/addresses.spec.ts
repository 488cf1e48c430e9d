import type { LookupAddress } from 'node:dns';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { refusalOf, refusalOfHost } from '../../../src/webhooks/send/addresses.js';
import type { Resolve } from '../../../src/platform/http-client/names.js';
import { WebhookSender } from '../../../src/webhooks/send/sender.service.js';
import { startOutboundProxy } from '../../setup/receivers/outbound-proxy.js';
import { endServer, listen } from '../../setup/receivers/servers.js';
import { environmentFor } from '../../setup/test-environment.js';
import { itAtLength, promise } from '../support/promise.js';

/** Hosts whose address is not public, in many notations. */
const FORBIDDEN = [
  '127.0.0.1',
  '127.1',
  '127.0.1',
  '127.255.255.254',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '0177.0.0.1',
  '017700000001',
  '0x7f.0x0.0x0.0x1',
  '127.0.0.1.',
  '１２７.0.0.1',
  '127。0。0。1',
  '0',
  '0.0.0.0',
  '10.0.0.1',
  '0x0a000001',
  '100.64.0.1',
  '169.254.169.254',
  '2852039166',
  '0xa9fea9fe',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.1',
  '192.168.0.1',
  '198.18.0.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '[::]',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[::127.0.0.1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::ffff:169.254.169.254]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b:1::1]',
  '[2002:7f00:1::]',
  '[2001:0:7f00:1::]',
  '[2001:db8::1]',
  '[fc00::1]',
  '[fd12:3456::1]',
  '[fe80::1]',
  '[fec0::1]',
  '[ff02::1]',
  'localhost',
  'localhost.',
  'LOCALHOST',
  'sub.localhost',
];
const LOOPBACK: LookupAddress = { address: '127.0.0.1', family: 4 };
/** A public address by our rules, but unassigned, so that no test reaches a real host. */
const ELSEWHERE: LookupAddress = { address: '3ffe::1', family: 6 };
const REBINDINGS = 200;

const MESSAGE = { id: 'event', body: '{}', timestamp: new Date() };
const destination = (url: string) => ({ url, headers: {}, secrets: ['whsec_c2VjcmV0'] });

let canary: Server;
let port: number;
let reached = 0;
beforeAll(async () => {
  canary = createServer((_request, response) => response.end());
  canary.on('connection', () => (reached += 1));
  await new Promise<void>((resolve) => canary.listen(0, resolve));
  ({ port } = canary.address() as AddressInfo);
});
afterAll(() => void canary.close());
beforeEach(() => void (reached = 0));

function guarded(resolve?: Resolve, allowsPrivate = 'false'): WebhookSender {
  const sender = new WebhookSender(
    environmentFor('postgres://none@127.0.0.1/none', { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: allowsPrivate }),
  );
  sender.deadlineMs = 1_000;
  if (resolve !== undefined) sender.resolve = resolve;
  return sender;
}

function rebinding(first: LookupAddress, later: LookupAddress): Resolve {
  let lookups = 0;
  return () => Promise.resolve([lookups++ === 0 ? first : later]);
}

describe('R31: webhooks reach only where they may', () => {
  it(`connects to none of ${FORBIDDEN.length} forms of forbidden addresses`, async () => {
    const sender = guarded();
    const kinds = await Promise.all(
      FORBIDDEN.map(
        async (host) => (await sender.send(destination(`http://${host}:${port}/`), MESSAGE)).kind,
      ),
    );
    promise('R31', {
      figure: `${reached} connections by ${FORBIDDEN.length} forms of addresses`,
      bound: '0',
    });
    expect(kinds).toEqual(FORBIDDEN.map(() => 'failed'));
    expect(reached).toBe(0);
  });

  it.each(FORBIDDEN)('%s is refused in a URL', (host) =>
    expect(refusalOfHost(new URL(`http://${host}/`).hostname)).not.toBeNull(),
  );

  it(`does not connect to a name that changes its address, in ${REBINDINGS} attempts`, async () => {
    for (let count = 0; count < REBINDINGS; count++) {
      // The addresses of a host name: loopback at the first lookup only, at every lookup, together with a public address, or as an
      // IPv4-mapped address.
      const resolve = [
        rebinding(LOOPBACK, ELSEWHERE),
        rebinding(LOOPBACK, LOOPBACK),
        () => Promise.resolve([ELSEWHERE, LOOPBACK]),
        () => Promise.resolve([{ address: '::ffff:127.0.0.1', family: 6 }]),
      ][count % 4]!;
      const outcome = await guarded(resolve).send(destination(`http://rebinding.test:${port}/`), MESSAGE);
      expect(outcome).toMatchObject({ kind: 'failed', error: expect.stringMatching(/public/) });
    }
    promise('R31', { figure: `${reached} connections by ${REBINDINGS} names that change`, bound: '0' });
    expect(reached).toBe(0);
  });

  it('leaves names to the proxy with WEBHOOKS_VIA_PROXY, but no forbidden address', async () => {
    const proxy = await startOutboundProxy();
    const sender = new WebhookSender(
      environmentFor('postgres://none@127.0.0.1/none', {
        WEBHOOK_ALLOW_PRIVATE_ADDRESSES: 'false',
        WEBHOOKS_VIA_PROXY: 'true',
        HTTP_PROXY: proxy.url,
      }),
    );
    const kinds = await Promise.all(
      [...FORBIDDEN, 'localhost'].map(
        async (host) => (await sender.send(destination(`http://${host}:${port}/`), MESSAGE)).kind,
      ),
    );
    expect(kinds).toEqual(kinds.map(() => 'failed'));
    expect([reached, proxy.tunnels]).toEqual([0, []]);

    const receiver = createServer((_request, response) => response.end());
    const place = `receiver.test:${await listen(receiver)}`;
    expect(await sender.send(destination(`http://${place}/hook`), MESSAGE)).toMatchObject({
      kind: 'delivered',
    });
    expect(proxy.tunnels).toEqual([place]);
    const without = guarded(() => Promise.resolve([LOOPBACK]));
    expect((await without.send(destination(`http://${place}/hook`), MESSAGE)).kind).toBe('failed');
    await sender.onApplicationShutdown();
    await endServer(receiver);
    await proxy.close();
  });

  it('looks a name up once, and connects only to the resulting address', async () => {
    let lookups = 0;
    const sender = guarded(() => {
      lookups += 1;
      return Promise.resolve([lookups === 1 ? ELSEWHERE : LOOPBACK]);
    });
    sender.deadlineMs = 200;
    await sender.send(destination(`http://rebinding.test:${port}/`), MESSAGE);
    expect([lookups, reached]).toEqual([1, 0]);
  });

  it.each([301, 302, 303, 307, 308])(
    'a redirect with %i is a failure, and is not followed',
    async (status) => {
      const redirecting = createServer((_request, response) =>
        response.writeHead(status, { location: `http://127.0.0.1:${port}/` }).end(),
      );
      const other = await listen(redirecting);
      const sender = new WebhookSender(environmentFor('postgres://none@127.0.0.1/none'));
      const outcome = await sender.send(destination(`http://127.0.0.1:${other}/`), MESSAGE);
      redirecting.close();
      expect(outcome).toMatchObject({ kind: 'failed', status, error: expect.stringMatching(/redirects/) });
      expect(reached).toBe(0);
    },
  );

  itAtLength('turns red when the address is checked at the registration only', async () => {
    const resolve = rebinding(ELSEWHERE, LOOPBACK);
    for (const { address } of await resolve('rebinding.test', new AbortController().signal))
      expect(refusalOf(address)).toBeNull();
    await guarded(resolve, 'true').send(destination(`http://rebinding.test:${port}/`), MESSAGE);
    expect(reached).toBeGreaterThan(0);
  });
});
