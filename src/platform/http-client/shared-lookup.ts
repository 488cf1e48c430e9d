import { promises, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { lookupBy } from './names.js';

/**
 * Returns a `lookup` for connections to one host. Connections that are opened at the same time share one call of getaddrinfo. Such a call
 * occupies one of the few threads of libuv until it returns, so with a call for each connection, a slow name server of the remote service
 * would hold up the names of the database and the webhooks.
 */
export function sharedLookup(
  resolve = (name: string): Promise<LookupAddress[]> => promises.lookup(name, { all: true }),
): LookupFunction {
  let resolving: Promise<LookupAddress[]> | undefined;
  return lookupBy((name) => (resolving ??= resolve(name).finally(() => (resolving = undefined))));
}
