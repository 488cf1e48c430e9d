import { isIP } from 'node:net';

/** The first half of an IPv6 address is its network; every household and every rented server has at least one. */
const NETWORK_GROUPS = 4;
const MAPPED_IPV4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/**
 * Returns the name under which an address is counted: itself or, for IPv6, its network, within which a client can take any address. `given`
 * comes from a proxy and may be any text; if it is not an address, the socket's address counts.
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
