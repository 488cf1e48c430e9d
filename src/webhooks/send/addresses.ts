import { isIP, isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The only IPv6 block with public addresses. ipaddr.js also classifies addresses outside this block as unicast. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3');
/** The name of the NAT64 range in ipaddr.js. The last 32 bits of such an address are an IPv4 address, which is checked (RFC 6052). */
const NAT64 = 'rfc6052';
/** A public address at which Azure serves credentials and certificates to each of its machines. */
const AZURE_HOST = '168.63.129.16';

/**
 * Returns why this IP address is refused, or null if it is allowed. Parses every notation: brackets, zone, single number, octal,
 * hexadecimal. Most refused ranges lead into our own networks, where services trust every caller. Clouds provide credentials at
 * 169.254.169.254.
 */
export function refusalOf(address: string): string | null {
  const literal = findLiteral(address);
  if (literal === null) return 'is not an IP address';
  if (literal === AZURE_HOST) return 'is a service of the cloud for its own machines';
  const parsed = ipaddr.parse(literal);
  const range = parsed.range();
  if (range === NAT64) return refusalOf(parsed.toByteArray().slice(-4).join('.'));
  // Converts the name of ipaddr.js, such as `linkLocal`, to words.
  if (range !== 'unicast')
    return `is in the ${range.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)} range`;
  return parsed.kind() === 'ipv4' || parsed.match(GLOBAL_UNICAST) ? null : 'is not a public address';
}

/** Returns why this host of a URL is refused, or null. Refuses no name but localhost: addresses of names are checked on connecting. */
export function refusalOfHost(host: string): string | null {
  if (findLiteral(host) !== null) return refusalOf(host);
  const name = host.toLowerCase().replace(/(?<!\.)\.+$/, '');
  return name === 'localhost' || name.endsWith('.localhost') ? 'is a name of this machine' : null;
}

/** Returns the address in a notation that `isIP` accepts, or null if the text is not an IP address. */
function findLiteral(text: string): string | null {
  const [bare = ''] = text.replace(/^\[(.*)\]$/, '$1').split('%', 1);
  if (isIP(bare) !== 0) return bare;
  // The URL parser accepts all notations that `inet_aton` accepts, and others, such as full-width digits.
  if (!URL.canParse(`http://${bare}/`)) return null;
  const { hostname } = new URL(`http://${bare}/`);
  return isIPv4(hostname) ? hostname : null;
}
