import { lookup, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { buildConnector } from 'undici';
import { refusalOf } from './addresses.js';

/** Returns every address of a name. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

/** The connection was refused because of its address. */
class AddressRefusedError extends Error {
  override readonly name = 'AddressRefusedError';
}

export const resolveName: Resolve = (hostname) =>
  new Promise((resolve, reject) =>
    lookup(hostname, { all: true }, (error, addresses) => (error ? reject(error) : resolve(addresses))),
  );

/**
 * Connects to public addresses only. A name is resolved once, and the checked addresses are the ones connected to: a second lookup
 * could return an address inside our network. Node does not look up an address in the URL itself, so that is checked before
 * connecting. The address of the connected socket is checked again before a byte is written.
 */
export function guardedConnector(resolve: Resolve): buildConnector.connector {
  const connect = buildConnector({
    timeout: 0,
    lookup: guardedLookup(resolve),
  });
  return (target, callback) => {
    const refusal = isIP(target.hostname) === 0 ? null : refusalOf(target.hostname);
    if (refusal !== null) return callback(refused(target.hostname, refusal), null);
    connect(target, (...[error, socket]) => {
      if (error !== null) return callback(error, null);
      const reached = reachedBy(socket);
      const late = refusalOf(reached);
      if (late === null) return callback(null, socket);
      socket.destroy();
      callback(refused(reached, late), null);
    });
  };
}

/** Connects to any address, for deployments that allow private addresses. */
export function openConnector(resolve: Resolve): buildConnector.connector {
  return buildConnector({ timeout: 0, lookup: lookupOf(resolve) });
}

/** Refuses a name that has a forbidden address beside public ones: it is a mistake, or a probe of which address we choose. */
const guardedLookup = (resolve: Resolve): LookupFunction =>
  lookupOf(async (hostname) => {
    const addresses = await resolve(hostname);
    for (const { address } of addresses) {
      const refusal = refusalOf(address);
      if (refusal !== null) throw refused(address, refusal);
    }
    return addresses;
  });

const lookupOf =
  (resolve: Resolve): LookupFunction =>
  (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const [first] = addresses;
        if (first === undefined) callback(new Error(`${hostname} has no address`), '', 0);
        else if (options.all === true) callback(null, [...addresses]);
        else callback(null, first.address, first.family);
      },
      (error: Error) => callback(error, '', 0),
    );
  };

const reachedBy = (socket: Socket): string => socket.remoteAddress ?? '';

const refused = (address: string, refusal: string): AddressRefusedError =>
  new AddressRefusedError(`${address} ${refusal}, and webhooks go to public ones only`);
