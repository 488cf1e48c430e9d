import { BlockList, isIP, isIPv4 } from 'node:net';

// Where a webhook must not go: whatever the registries of special-purpose addresses (IANA, iana-ipv4-special-registry and
// iana-ipv6-special-registry, as of 2026) do not call globally reachable, and multicast. These are the networks around us, and the
// services in them believe whoever reaches them.
const IPV4: readonly (readonly [network: string, prefix: number, what: string])[] = [
  ['0.0.0.0', 8, 'is an address of this network'],
  ['10.0.0.0', 8, 'is a private address'],
  ['100.64.0.0', 10, 'is a shared address of a carrier'],
  ['127.0.0.0', 8, 'is a loopback address'],
  // Among them 169.254.169.254, where clouds hand out credentials.
  ['169.254.0.0', 16, 'is a link-local address'],
  ['172.16.0.0', 12, 'is a private address'],
  ['192.0.0.0', 24, 'is an address of a protocol'],
  ['192.0.2.0', 24, 'is an address for documentation'],
  ['192.88.99.0', 24, 'is an address of a retired relay'],
  ['192.168.0.0', 16, 'is a private address'],
  ['198.18.0.0', 15, 'is an address for benchmarks'],
  ['198.51.100.0', 24, 'is an address for documentation'],
  ['203.0.113.0', 24, 'is an address for documentation'],
  ['224.0.0.0', 4, 'is a multicast address'],
  ['255.255.255.255', 32, 'is a broadcast address'],
  ['240.0.0.0', 4, 'is a reserved address'],
];

/** Within the one block that is given out as global unicast; everything outside it is refused as a whole. */
const GLOBAL_UNICAST = ['2000::', 3] as const;
const IPV6: readonly (readonly [network: string, prefix: number, what: string])[] = [
  // It and 6to4 carry an IPv4 address that some relay would go on to.
  ['2001::', 32, 'is a Teredo address'],
  ['2002::', 16, 'is a 6to4 address'],
  ['2001::', 23, 'is an address of a protocol'],
  ['2001:db8::', 32, 'is an address for documentation'],
  ['3fff::', 20, 'is an address for documentation'],
];
/** Outside of it, for a reason that says more than "not public". */
const IPV6_OTHERS: readonly (readonly [network: string, prefix: number, what: string])[] = [
  ['::', 128, 'is an address of this network'],
  ['::1', 128, 'is a loopback address'],
  ['::ffff:0:0', 96, 'is an IPv4 address in the form of IPv6'],
  ['fc00::', 7, 'is a private address'],
  ['fe80::', 10, 'is a link-local address'],
  ['ff00::', 8, 'is a multicast address'],
];
/** Networks without IPv4 reach it through these, so what counts is the address in the last 32 bits (RFC 6052). */
const NAT64 = ['64:ff9b::', 96] as const;

interface Rule {
  readonly list: BlockList;
  readonly what: string;
}

const ruleOf = (family: 'ipv4' | 'ipv6', network: string, prefix: number, what: string): Rule => {
  const list = new BlockList();
  list.addSubnet(network, prefix, family);
  return { list, what };
};
const RULES = {
  ipv4: IPV4.map((rule) => ruleOf('ipv4', ...rule)),
  ipv6: [...IPV6, ...IPV6_OTHERS].map((rule) => ruleOf('ipv6', ...rule)),
};
const isGlobalUnicast = ruleOf('ipv6', ...GLOBAL_UNICAST, '').list;
const isNat64 = ruleOf('ipv6', ...NAT64, '').list;

/**
 * Why no webhook may go to this IP address, as what is said of it (`is a private address`); null when one may. Reads every form that
 * a URL or a resolver may give it: in brackets, with a zone, IPv4 as one number, in octal or in hexadecimal. What is no address at
 * all is refused, too.
 */
export function refusalOf(address: string): string | null {
  const literal = findLiteral(address);
  if (literal === null) return 'is no IP address';
  if (isIPv4(literal)) return RULES.ipv4.find(({ list }) => list.check(literal))?.what ?? null;
  if (isNat64.check(literal, 'ipv6')) return refusalOf(lastBitsOf(literal));
  const rule = RULES.ipv6.find(({ list }) => list.check(literal, 'ipv6'));
  if (rule !== undefined) return rule.what;
  return isGlobalUnicast.check(literal, 'ipv6') ? null : 'is no public address';
}

/**
 * The same for the host of a URL. A name is let pass, unless it stands for this machine by definition (RFC 6761): which addresses it
 * has is known when it is connected to, and then they are judged.
 */
export function refusalOfHost(host: string): string | null {
  if (findLiteral(host) !== null) return refusalOf(host);
  const name = host.toLowerCase().replace(/\.+$/, '');
  return name === 'localhost' || name.endsWith('.localhost') ? 'is a name of this machine' : null;
}

/** In the notation that `isIP` knows, or null when it is none in any. */
function findLiteral(text: string): string | null {
  const bare = text.replace(/^\[(.*)\]$/, '$1').replace(/%.*$/, '');
  if (isIP(bare) !== 0) return bare;
  // The parser of URLs reads what inet_aton reads, and more, such as full-width digits.
  if (!URL.canParse(`http://${bare}/`)) return null;
  const { hostname } = new URL(`http://${bare}/`);
  return isIPv4(hostname) ? hostname : null;
}

/** The last 32 bits of an IPv6 address as IPv4. */
function lastBitsOf(address: string): string {
  // The parser of URLs writes them as two groups in hexadecimal; a group of zeros may be left out.
  const groups = new URL(`http://[${address}]/`).hostname.slice(1, -1).split(':');
  const [high = 0, low = 0] = groups.slice(-2).map((group) => Number.parseInt(group || '0', 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}
