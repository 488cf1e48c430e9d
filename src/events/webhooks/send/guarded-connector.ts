import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';

export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

export const resolveName: Resolve = (hostname) => lookup(hostname, { all: true });

/** Connects only to addresses that `refusal` allows. Resolves each name once, because a second lookup could return another address. */
export function guardedConnector(
  resolve: Resolve,
  refusal: (address: string) => string | null,
): buildConnector.connector {
  const refused = (address: string): Error | null => {
    const why = refusal(address);
    return why === null ? null : new Error(`${address} ${why}; webhooks go to public addresses only`);
  };
  const guardedLookup: LookupFunction = (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const [first] = addresses;
        // Refuses a name if any of its addresses is refused: a mix of public and other addresses is a mistake or a probe.
        const [error] = addresses.flatMap(({ address }) => refused(address) ?? []);
        if (error !== undefined) callback(error, '', 0);
        else if (first === undefined) callback(new Error(`${hostname} has no address`), '', 0);
        else if (options.all === true) callback(null, [...addresses]);
        else callback(null, first.address, first.family);
      },
      (error: Error) => callback(error, '', 0),
    );
  };
  const connect = buildConnector({ timeout: 0, lookup: guardedLookup });
  return (target, callback) => {
    // Checks an IP address in this function, because Node does not look it up.
    const error = isIP(target.hostname) === 0 ? null : refused(target.hostname);
    if (error === null) connect(target, callback);
    else callback(error, null);
  };
}
