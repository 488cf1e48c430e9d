import type { FastifyRequest } from 'fastify';

/** Returns whether a host name of a URL is this machine: traffic to it never leaves the machine. */
export const isLoopback = (hostname: string): boolean =>
  /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);

export const withoutEndSlashes = (address: string): string => address.replace(/(?<!\/)\/+$/, '');

type Received = Pick<FastifyRequest, 'protocol' | 'host'>;

/**
 * Returns the address under which browsers reach this service, without a slash at its end: PUBLIC_URL, else the address of the request. A
 * request in HTTP/1.0 may have no host.
 */
export const baseUrlOf = ({ protocol, host }: Received, publicUrl: string | undefined): string =>
  publicUrl ?? `${protocol}://${host || 'localhost'}`;

/** Returns the origins of our own pages. */
export const ownOriginsOf = ({ protocol, host }: Received, publicUrl: string | undefined): string[] => [
  `${protocol}://${host}`,
  ...(publicUrl === undefined ? [] : [new URL(publicUrl).origin]),
];

/** Returns the path of PUBLIC_URL, such as `/pv`. Empty if it has none. */
export const pathPrefixOf = (publicUrl: string | undefined): string =>
  URL.canParse(publicUrl ?? '') ? new URL(publicUrl!).pathname.replace(/^\/$/, '') : '';

/** Returns the path of a request as if the proxy had removed the path of PUBLIC_URL. Some proxies remove it, and some do not. */
export function withoutPrefix(url: string, prefix: string): string {
  const rest = url.slice(prefix.length);
  if (prefix === '' || !url.startsWith(prefix) || !/^(?:[/?]|$)/.test(rest)) return url;
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** The paths that do not begin with /api/v1. */
export const UNPREFIXED = [
  '/',
  'health/live',
  'health/ready',
  'metrics',
  'problems/:code',
  'openapi.json',
  'asyncapi.json',
  'docs',
  'docs/*path',
  'console',
  'console/*path',
  'i',
  'i/:token',
  'i/*rest',
];

/** The first parts of the paths that the service has. */
export const OWN_PATHS: readonly string[] = [
  'api',
  ...UNPREFIXED.map((path) => path.split('/', 1)[0]!).filter((part) => part !== ''),
];
