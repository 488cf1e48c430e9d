import { BlockList, isIP } from 'node:net';

/** An outbound proxy. All traffic goes through it in tunnels (CONNECT), also that to http:// addresses. */
export interface Proxy {
  readonly origin: string;
  /** Host and port, for people. */
  readonly name: string;
  /** The value of Proxy-Authorization. Undefined: the proxy needs no credentials, or we have none. */
  readonly authorization: string | undefined;
}

export interface ProxySettings {
  readonly HTTPS_PROXY?: string;
  readonly HTTP_PROXY?: string;
  readonly NO_PROXY?: string;
}

/** Returns the URL of a proxy, which may lack its scheme (`proxy.example:3128`), or undefined if it is not a usable proxy. */
export function readProxyUrl(text: string): URL | undefined {
  const withScheme = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  if (/\s/.test(text) || !URL.canParse(withScheme)) return undefined;
  const url = new URL(withScheme);
  const isHttp = url.protocol === 'http:' || url.protocol === 'https:';
  const isBare = url.pathname === '/' && url.search === '' && url.hash === '';
  return isHttp && isBare && credentialsOf(url) !== undefined ? url : undefined;
}

/** Returns the proxy for connections to `url`, or undefined if they are direct. The loopback is always direct. */
export function proxyFor(url: URL, settings: ProxySettings): Proxy | undefined {
  const text = url.protocol === 'https:' ? settings.HTTPS_PROXY : settings.HTTP_PROXY;
  const host = bareHost(url.hostname);
  if (text === undefined || isThisMachine(host) || isExcepted(url, settings.NO_PROXY ?? '')) return undefined;
  const proxy = readProxyUrl(text)!;
  const [user, password] = credentialsOf(proxy)!;
  const encoded = Buffer.from(`${user}:${password}`).toString('base64');
  return {
    origin: proxy.origin,
    name: `${proxy.hostname}:${portOf(proxy)}`,
    authorization: user === '' && password === '' ? undefined : `Basic ${encoded}`,
  };
}

/** Returns what must not appear in a log: the password, and the pair of user and password as it is sent. */
export function proxySecretsOf({ HTTPS_PROXY, HTTP_PROXY }: ProxySettings): string[] {
  return [HTTPS_PROXY, HTTP_PROXY].flatMap((text) => {
    const [user = '', password = ''] = credentialsOf(readProxyUrl(text ?? '')) ?? [];
    return [password === '' ? user : password, `${user}:${password}`];
  });
}

/** Returns user and password. Returns undefined if they cannot be decoded. */
function credentialsOf(url: URL | undefined): [user: string, password: string] | undefined {
  if (url === undefined) return undefined;
  try {
    return [decodeURIComponent(url.username), decodeURIComponent(url.password)];
  } catch {
    return undefined;
  }
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('0.0.0.0', 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');
LOOPBACK.addAddress('::', 'ipv6');

const isThisMachine = (host: string): boolean =>
  isIP(host) === 0
    ? host === 'localhost' || host.endsWith('.localhost')
    : LOOPBACK.check(host, isIP(host) === 4 ? 'ipv4' : 'ipv6');

const portOf = ({ protocol, port }: URL): string => port || (protocol === 'https:' ? '443' : '80');

/**
 * Returns whether NO_PROXY lists the host: by its name, by a domain that it belongs to (`example.com`, `.example.com`, `*.example.com`), by
 * its address, or by a network that contains its address (`10.0.0.0/8`). An entry may be restricted to a port.
 */
function isExcepted(url: URL, noProxy: string): boolean {
  const host = bareHost(url.hostname);
  return noProxy.split(/[\s,]+/).some((entry) => {
    const { name, port } = splitEntry(entry.toLowerCase());
    if (port !== undefined && port !== portOf(url)) return false;
    return name === '*' || (isIP(host) === 0 ? isInDomain(host, name) : isInNetwork(host, name));
  });
}

/** Splits an entry into a name and a port. An IPv6 address with a port is in brackets. */
function splitEntry(entry: string): { readonly name: string; readonly port?: string } {
  const [, name = entry, port] = /^(\[.*\]|[^:]*):(\d{1,5})$/.exec(entry) ?? [];
  return { name: bareHost(name), port };
}

const bareHost = (host: string): string => host.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');

function isInDomain(host: string, name: string): boolean {
  const domain = name.replace(/^\*?\./, '');
  return host === domain || host.endsWith(`.${domain}`);
}

function isInNetwork(address: string, name: string): boolean {
  const [network = '', prefix] = name.split('/');
  const type = isIP(network);
  if (type === 0 || (prefix !== undefined && !/^\d{1,3}$/.test(prefix))) return false;
  const most = type === 4 ? 32 : 128;
  const length = prefix === undefined ? most : Number(prefix);
  if (length > most) return false;
  const list = new BlockList();
  list.addSubnet(network, length, type === 4 ? 'ipv4' : 'ipv6');
  return list.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');
}
