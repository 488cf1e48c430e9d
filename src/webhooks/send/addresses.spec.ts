import { expect, it } from '@jest/globals';
import { environmentFor } from '../../../test/setup/test-environment.js';
import { refusalOf, refusalOfHost } from './addresses.js';
import { WebhookSender } from './sender.service.js';

it.each([
  ['8.8.8.8', null],
  ['1.1.1.1', null],
  ['100.128.0.1', null],
  ['172.32.0.1', null],
  ['2606:4700:4700::1111', null],
  ['64:ff9b::8.8.8.8', null],
  ['127.0.0.1', 'is in the loopback range'],
  ['::1', 'is in the loopback range'],
  ['10.0.0.1', 'is in the private range'],
  ['172.31.255.255', 'is in the private range'],
  ['100.64.0.1', 'is in the carrier-grade-nat range'],
  ['169.254.169.254', 'is in the link-local range'],
  ['168.63.129.15', null],
  ['168.63.129.16', 'is a service of the cloud for its own machines'],
  ['64:ff9b::168.63.129.16', 'is a service of the cloud for its own machines'],
  ['0.0.0.0', 'is in the unspecified range'],
  ['64:ff9b::127.0.0.1', 'is in the loopback range'],
  ['fc00::1', 'is in the unique-local range'],
  ['fe80::1%eth0', 'is in the link-local range'],
  ['::ffff:8.8.8.8', 'is in the ipv4-mapped range'],
  ['4000::1', 'is not a public address'],
  ['1.2.3.4.5', 'is not an IP address'],
  ['example.org', 'is not an IP address'],
  ['', 'is not an IP address'],
])('the address %j is refused as %j', (address, refusal) => expect(refusalOf(address)).toBe(refusal));

it.each([
  ['example.org', null],
  ['localhost.example.org', null],
  ['mylocalhost', null],
  ['8.8.8.8', null],
  ['[2606:4700:4700::1111]', null],
  ['LOCALHOST', 'is a name of this machine'],
  ['localhost..', 'is a name of this machine'],
  ['sub.localhost.', 'is a name of this machine'],
  ['0x7f.1', 'is in the loopback range'],
  ['0xa83f8110', 'is a service of the cloud for its own machines'],
  ['127.0.0.1.', 'is in the loopback range'],
  ['[fec0::1]', 'is in the deprecated-site-local range'],
])('the host %s is refused as %j', (host, refusal) => expect(refusalOfHost(host)).toBe(refusal));

it.each([
  ['http://127.0.0.1:9/', []],
  ['http://receiver.test:9/', ['127.0.0.1']],
  ['http://receiver.test:9/', ['3ffe::1', '127.0.0.1']],
])('nothing is sent to %s at %j', async (url, addresses) => {
  const sender = new WebhookSender(
    environmentFor('postgres://none@127.0.0.1/none', { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: 'false' }),
  );
  sender.deadlineMs = 1_000;
  sender.resolve = async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  const message = { id: 'event', body: '{}', timestamp: new Date() };
  expect(await sender.send({ url, headers: {}, secrets: ['whsec_c2VjcmV0'] }, message)).toEqual({
    kind: 'failed',
    error: expect.stringContaining(
      '127.0.0.1 is in the loopback range; webhooks go to public addresses only',
    ),
  });
  await sender.onApplicationShutdown();
});
