import { isIP, isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';

type Address = ReturnType<typeof ipaddr.parse>;

/**
 * Why no webhook may go to an address, by its range in ipaddr.js, which follows the IANA registries of special-purpose addresses.
 * These ranges lead to the networks around us, whose services trust every caller.
 */
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

/** The only block assigned as global unicast. ipaddr.js also calls some other addresses unicast. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3');
/** The NAT64 range in ipaddr.js. Networks without IPv4 reach IPv4 through it, so the address in the last 32 bits counts (RFC 6052). */
const NAT64 = 'rfc6052';

/**
 * Returns why no webhook may go to this IP address (`is a private address`), or null if one may. Parses every form that a URL or
 * resolver may contain: in brackets, with a zone, and IPv4 as one number, in octal or in hexadecimal. Also rejects text that is not
 * an address.
 */
export function refusalOf(address: string): string | null {
  const literal = findLiteral(address);
  if (literal === null) return 'is no IP address';
  const parsed = ipaddr.parse(literal);
  const range = parsed.range();
  if (range === NAT64) return refusalOf(parsed.toByteArray().slice(-4).join('.'));
  if (range !== 'unicast') return RANGES[range] ?? 'is a reserved address';
  return isGlobalUnicast(parsed) ? null : 'is no public address';
}

/**
 * Returns the same for the host of a URL. A name passes unless it denotes this machine by definition (RFC 6761). Its addresses are
 * checked when connecting, because they are known only then.
 */
export function refusalOfHost(host: string): string | null {
  if (findLiteral(host) !== null) return refusalOf(host);
  const name = host.toLowerCase().replace(/\.+$/, '');
  return name === 'localhost' || name.endsWith('.localhost') ? 'is a name of this machine' : null;
}

const isGlobalUnicast = (address: Address): boolean =>
  address.kind() === 'ipv4' || address.match(GLOBAL_UNICAST);

/** Returns the address in a notation that `isIP` accepts, or null if the text is not an address. */
function findLiteral(text: string): string | null {
  const bare = text.replace(/^\[(.*)\]$/, '$1').replace(/%.*$/, '');
  if (isIP(bare) !== 0) return bare;
  // The URL parser accepts everything that inet_aton does, and more, such as full-width digits.
  if (!URL.canParse(`http://${bare}/`)) return null;
  const { hostname } = new URL(`http://${bare}/`);
  return isIPv4(hostname) ? hostname : null;
}
