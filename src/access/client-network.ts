import { isIP } from 'node:net';

/** The first half of an IPv6 address names a network, of which every household and every rented server has at least one. */
const NETWORK_GROUPS = 4;
const MAPPED_IPV4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/**
 * Whom an address is counted under: itself, or for IPv6 its network, within which a client takes any address it likes. `given` is
 * what a proxy said, which may be anything at all; where it is no address, the socket's counts.
 */
export function clientNetwork(given: string, ofSocket: string): string {
  const address = isIP(given) === 0 ? ofSocket : given;
  const ipv4 = MAPPED_IPV4.exec(address)?.[1];
  if (ipv4 !== undefined) return ipv4;
  return isIP(address) === 6 ? networkOf(address) : address;
}

function networkOf(address: string): string {
  const [left = '', right] = address.replace(/%.*$/, '').split('::');
  const before = left === '' ? [] : left.split(':');
  const after = right === undefined || right === '' ? [] : right.split(':');
  const omitted = right === undefined ? 0 : 8 - before.length - after.length;
  const groups = [...before, ...Array<string>(omitted).fill('0'), ...after];
  const network = groups.slice(0, NETWORK_GROUPS).map((group) => Number.parseInt(group, 16).toString(16));
  return `${network.join(':')}::/64`;
}
