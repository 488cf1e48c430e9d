import { isIP, isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';

type Address = ReturnType<typeof ipaddr.parse>;

/**
 * What is said of addresses that no webhook may go to, by their range in ipaddr.js, which follows the registries of special-purpose
 * addresses (IANA). These are the networks around us, and the services in them trust every caller that reaches them.
 */
const RANGES: Readonly<Record<string, string>> = {
  unspecified: 'is an address of this network',
  private: 'is a private address',
  uniqueLocal: 'is a private address',
  carrierGradeNat: 'is a shared address of a carrier',
  loopback: 'is a loopback address',
  // Among them 169.254.169.254, where clouds hand out credentials.
  linkLocal: 'is a link-local address',
  multicast: 'is a multicast address',
  broadcast: 'is a broadcast address',
  ipv4Mapped: 'is an IPv4 address in the form of IPv6',
  // It and 6to4 carry an IPv4 address that a relay would forward to.
  teredo: 'is a Teredo address',
  '6to4': 'is a 6to4 address',
};

/** The one block that is given out as global unicast; ipaddr.js calls some of the rest unicast too. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3');
/** Its range in ipaddr.js. Networks without IPv4 reach it through these, so the address in the last 32 bits counts (RFC 6052). */
const NAT64 = 'rfc6052';

/**
 * Returns why no webhook may go to this IP address, as what is said of it (`is a private address`); null when one may. Reads every
 * form that a URL or a resolver may give it: in brackets, with a zone, IPv4 as one number, in octal or in hexadecimal. Text that is
 * not an address is refused, too.
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
 * Returns the same for the host of a URL. A name passes, unless it stands for this machine by definition (RFC 6761): which addresses
 * it has is known when it is connected to, and then they are checked.
 */
export function refusalOfHost(host: string): string | null {
  if (findLiteral(host) !== null) return refusalOf(host);
  const name = host.toLowerCase().replace(/\.+$/, '');
  return name === 'localhost' || name.endsWith('.localhost') ? 'is a name of this machine' : null;
}

const isGlobalUnicast = (address: Address): boolean =>
  address.kind() === 'ipv4' || address.match(GLOBAL_UNICAST);

/** Returns the address in the notation that `isIP` knows, or null when it is none in any. */
function findLiteral(text: string): string | null {
  const bare = text.replace(/^\[(.*)\]$/, '$1').replace(/%.*$/, '');
  if (isIP(bare) !== 0) return bare;
  // The parser of URLs reads what inet_aton reads, and more, such as full-width digits.
  if (!URL.canParse(`http://${bare}/`)) return null;
  const { hostname } = new URL(`http://${bare}/`);
  return isIPv4(hostname) ? hostname : null;
}
