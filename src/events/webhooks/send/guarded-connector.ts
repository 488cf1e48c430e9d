import { lookup, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { buildConnector } from 'undici';
import { refusalOf } from './addresses.js';

/** Answers every address that a name has. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

/** There was no connection, because of where it would have led. */
class AddressRefusedError extends Error {
  override readonly name = 'AddressRefusedError';
}

export const resolveName: Resolve = (hostname) =>
  new Promise((resolve, reject) =>
    lookup(hostname, { all: true }, (error, addresses) => (error ? reject(error) : resolve(addresses))),
  );

/**
 * Connects to public addresses alone. A name is resolved once, and what it resolves to is judged and connected to: were it looked up
 * again in between, its second answer could lead into our network. Node asks no resolver about an address that stands in the URL
 * itself, so that is judged before; and once more the one that the socket is connected to, before a byte is written.
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

/** Wherever the operator says that private addresses are fine. */
export function openConnector(resolve: Resolve): buildConnector.connector {
  return buildConnector({ timeout: 0, lookup: lookupOf(resolve) });
}

/** A name that has a forbidden address beside a public one is refused: it is a mistake, or tries which of them we take. */
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
