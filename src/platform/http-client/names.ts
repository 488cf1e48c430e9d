import type { LookupAddress } from 'node:dns';
import { lookup, Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP, setDefaultAutoSelectFamilyAttemptTimeout, type LookupFunction } from 'node:net';
import { within } from '../async/within.js';
import { candidatesOf, listedAddresses, readNameSearch } from './names.rules.js';

/** Where a machine looks names up. Default of `servers`: the name servers of the machine, as c-ares finds them. */
interface NameSources {
  readonly hosts: string;
  readonly resolvConf: string;
  readonly servers?: readonly string[];
}

const OF_THIS_MACHINE: NameSources = { hosts: '/etc/hosts', resolvConf: '/etc/resolv.conf' };
/** How long to wait for the other address family. Some name servers never respond to queries for IPv6 addresses. */
const OTHER_FAMILY_MS = 1_000;
/**
 * How long each address of a host but the last may take to accept a connection: long enough for one lost packet, which is sent again after
 * a second, and short enough for three addresses of the database in the 5 s for a connection. Node's default is 250 ms: a host whose IPv4
 * address takes longer would never be reached from a machine without IPv6.
 */
const ADDRESS_WITHIN_MS = 2_000;
// For the whole process, since the connections to the database and of libraries have no option for it.
setDefaultAutoSelectFamilyAttemptTimeout(ADDRESS_WITHIN_MS);
/** Returns how long each address of a host may take: a quarter of a short deadline, so that another one is tried before half of it. */
export const addressWithinMs = (deadlineMs: number): number =>
  Math.min(ADDRESS_WITHIN_MS, Math.ceil(deadlineMs / 4));

/** After these responses, glibc tries the next candidate, too. */
const TRY_NEXT: ReadonlySet<string | undefined> = new Set(['ENOTFOUND', 'ENODATA', 'ESERVFAIL', 'EREFUSED']);

type Queried =
  | { readonly kind: 'found'; readonly addresses: readonly LookupAddress[] }
  | { readonly kind: 'failed'; readonly error: NodeJS.ErrnoException };

/** Returns the addresses of a host name. Rejects when `signal` aborts. */
export type Resolve = (name: string, signal: AbortSignal) => Promise<readonly LookupAddress[]>;

/**
 * Resolves a host name that a stranger or a setting has chosen. Rejects if there is no address, and when `signal` aborts. Rejected: dns.lookup. It
 * occupies one of the few threads of libuv until getaddrinfo returns, so that the names of the database and of the remote service wait
 * behind a slow name. Unlike getaddrinfo, this function reads only the hosts file and queries name servers, whatever nsswitch.conf
 * contains.
 */
export async function resolveName(
  name: string,
  signal: AbortSignal,
  { hosts, resolvConf, servers }: NameSources = OF_THIS_MACHINE,
): Promise<readonly LookupAddress[]> {
  const listed = listedAddresses(await readIfExists(hosts), name).flatMap(toAddress);
  if (listed.length > 0) return listed;
  const candidates = candidatesOf(name, readNameSearch(await readIfExists(resolvConf)));
  // Each name has a resolver of its own, because `cancel` ends all queries of a resolver.
  const resolver = new Resolver();
  if (servers !== undefined) resolver.setServers(servers);
  const cancel = (): void => resolver.cancel();
  signal.addEventListener('abort', cancel);
  try {
    let failure: NodeJS.ErrnoException | undefined;
    for (const candidate of candidates) {
      signal.throwIfAborted();
      const queried = await query(resolver, candidate);
      if (queried.kind === 'found') return queried.addresses;
      failure = queried.error;
      if (!TRY_NEXT.has(failure.code)) break;
    }
    throw failure!;
  } finally {
    signal.removeEventListener('abort', cancel);
    // Cancels the query for the other address family, if it is still open.
    cancel();
  }
}

/** Returns a `lookup` for connections, by `resolve`. */
export function lookupBy(resolve: (name: string) => Promise<readonly LookupAddress[]>): LookupFunction {
  return (name, options, callback) => {
    resolve(name).then(
      (addresses) => {
        const [first] = addresses;
        if (first === undefined) callback(new Error(`${name} has no address`), '', 0);
        else if (options.all === true) callback(null, [...addresses]);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, '', 0),
    );
  };
}

/** Returns a `lookup` for connections that occupies no thread of libuv, by `resolveName`. */
export const lookupWithin = (withinMs: number): LookupFunction =>
  lookupBy((name) => resolveWithin(withinMs, name));

/**
 * Returns a `lookup` for connections to hosts of the settings. Connections to one host that are opened at the same time share one call of
 * getaddrinfo. Such a call occupies one of the few threads of libuv until it returns, so with a call for each connection, a slow name server
 * of the database or of the remote service would hold up all other names.
 */
export function sharedLookup(
  resolve = (name: string): Promise<LookupAddress[]> => lookup(name, { all: true }),
): LookupFunction {
  const resolving = new Map<string, Promise<LookupAddress[]>>();
  return lookupBy((name) => {
    const current = resolving.get(name) ?? resolve(name).finally(() => resolving.delete(name));
    resolving.set(name, current);
    return current;
  });
}

/** Like `resolveName`. Rejects after `withinMs`, with the code ETIMEOUT. */
export async function resolveWithin(withinMs: number, name: string): Promise<readonly LookupAddress[]> {
  const signal = AbortSignal.timeout(withinMs);
  return resolveName(name, signal).catch((cause: unknown) => {
    if (!signal.aborted) throw cause;
    throw Object.assign(new Error(`${name} has no address within ${withinMs} ms`), { code: 'ETIMEOUT' });
  });
}

/** Queries both families at once. Returns IPv4 addresses first, because a machine may have no route for IPv6. */
async function query(resolver: Resolver, name: string): Promise<Queried> {
  const found: LookupAddress[] = [];
  const errors: NodeJS.ErrnoException[] = [];
  const queries = [resolver.resolve4(name), resolver.resolve6(name)].map((each) =>
    each
      .then((addresses) => {
        // c-ares reports an alias (CNAME) without an address as a success.
        if (addresses.length === 0)
          throw Object.assign(new Error(`query ENODATA ${name}`), { code: 'ENODATA' });
        found.push(...addresses.flatMap(toAddress));
      })
      .catch((error: NodeJS.ErrnoException) => {
        errors.push(error);
        throw error;
      }),
  );
  const all = Promise.allSettled(queries);
  await Promise.any(queries).catch(() => {});
  await within(OTHER_FAMILY_MS, all);
  if (found.length > 0) return { kind: 'found', addresses: [...found].sort((a, b) => a.family - b.family) };
  return { kind: 'failed', error: errors.find(({ code }) => !TRY_NEXT.has(code)) ?? errors[0]! };
}

const toAddress = (address: string): LookupAddress[] => {
  const family = isIP(address);
  return family === 0 ? [] : [{ address, family }];
};

const readIfExists = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '');
