import { isIP, isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Why the address ranges, by their name in ipaddr.js, are refused. Most lead into our own networks, where services trust every caller. */
const RANGES: Readonly<Record<string, string>> = {
  unspecified: 'is an address of this network',
  private: 'is a private address',
  uniqueLocal: 'is a private address',
  carrierGradeNat: 'is a shared address of a carrier',
  loopback: 'is a loopback address',
  // Includes 169.254.169.254, where clouds provide credentials.
  linkLocal: 'is a link-local address',
  multicast: 'is a multicast address',
  broadcast: 'is a broadcast address',
  ipv4Mapped: 'is an IPv4 address in the form of IPv6',
  // Teredo and 6to4 contain an IPv4 address to which a relay would forward.
  teredo: 'is a Teredo address',
  '6to4': 'is a 6to4 address',
};

/** The only IPv6 block for public addresses. ipaddr.js also classifies addresses outside it as unicast. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3');
/** The NAT64 range in ipaddr.js. The last 32 bits of an address are the IPv4 destination, which is checked instead (RFC 6052). */
const NAT64 = 'rfc6052';

/** Returns why this IP address is refused, or null. Parses every notation: brackets, zone, single number, octal, hexadecimal. */
export function refusalOf(address: string): string | null {
  const literal = findLiteral(address);
  if (literal === null) return 'is not an IP address';
  const parsed = ipaddr.parse(literal);
  const range = parsed.range();
  if (range === NAT64) return refusalOf(parsed.toByteArray().slice(-4).join('.'));
  if (range !== 'unicast') return RANGES[range] ?? 'is a reserved address';
  return parsed.kind() === 'ipv4' || parsed.match(GLOBAL_UNICAST) ? null : 'is not a public address';
}

/** Like `refusalOf`, for the host of a URL. Of host names, refuses only localhost: their addresses are checked when connecting. */
export function refusalOfHost(host: string): string | null {
  if (findLiteral(host) !== null) return refusalOf(host);
  const name = host.toLowerCase().replace(/\.+$/, '');
  return name === 'localhost' || name.endsWith('.localhost') ? 'is a name of this machine' : null;
}

/** Returns the address in a notation that `isIP` accepts, or null if the text is not an address. */
function findLiteral(text: string): string | null {
  const bare = text.replace(/^\[(.*)\]$/, '$1').replace(/%.*$/, '');
  if (isIP(bare) !== 0) return bare;
  // The URL parser accepts everything that inet_aton does, and more, such as full-width digits.
  if (!URL.canParse(`http://${bare}/`)) return null;
  const { hostname } = new URL(`http://${bare}/`);
  return isIPv4(hostname) ? hostname : null;
}
