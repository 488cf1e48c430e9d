import { isIP, isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The only IPv6 block for public addresses. ipaddr.js also classifies addresses outside it as unicast. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3');
/** The name of the NAT64 range in ipaddr.js. The last 32 bits of a NAT64 address are an IPv4 address, which is checked instead (RFC 6052). */
const NAT64 = 'rfc6052';

/**
 * Returns why this IP address is refused, or null. Parses every notation: brackets, zone, single number, octal, hexadecimal. Most ranges lead
 * into our own networks, where services trust every caller. The link-local range has 169.254.169.254, where clouds provide credentials.
 */
export function refusalOf(address: string): string | null {
  const literal = findLiteral(address);
  if (literal === null) return 'is not an IP address';
  const parsed = ipaddr.parse(literal);
  const range = parsed.range();
  if (range === NAT64) return refusalOf(parsed.toByteArray().slice(-4).join('.'));
  // The names of ipaddr.js, such as `linkLocal`, become words.
  if (range !== 'unicast')
    return `is in the ${range.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)} range`;
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
