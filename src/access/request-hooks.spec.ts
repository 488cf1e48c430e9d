import { describe, expect, it } from '@jest/globals';
import { clientNetwork } from './request-hooks.service.js';

describe('clientNetwork', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:0001:0002::6', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['64:ff9b::192.0.2.7', '64:ff9b:0:0::/64'],
  ])('counts %s as %s', (address, network) => {
    expect(clientNetwork(address, '198.51.100.1')).toBe(network);
  });

  it.each(['unknown', '', '192.0.2.7:4711', '_hidden', 'x'.repeat(8_000)])(
    'uses the address of the socket if a proxy sends %.20j',
    (given) => expect(clientNetwork(given, '198.51.100.1')).toBe('198.51.100.1'),
  );
});
