import type { OperationClass, RemoteRequest } from '../remote/outcome.rules.js';

/**
 * The reason why a call was refused (401 or 403).
 * - `credentials`: several different calls in a row were refused, and none was served.
 * - `call`: the service has served another call since it last refused this one.
 * - `unknown`: neither is known yet.
 */
export type Refusal = 'credentials' | 'call' | 'unknown';

/** If this many different calls are refused in a row, the refusals are about the credentials. */
const DIFFERENT_CALLS = 5;
/** Refused reads are about the credentials only if they last this long. Sessions of a deleted account are all refused within a second. */
// A refused read is only retried, so a late conclusion costs little. POSTs have no such time: a refused POST may need a person.
const READS_REFUSED_FOR_MS = 2_000;
/** Limits the memory for calls that are refused and never sent again. */
const MOST_CALLS = 10_000;

interface Refused {
  /** The calls refused since the last served call, and the time of the first refusal. */
  readonly row: Set<string>;
  beganAt: number;
  /** The calls whose last refusal was followed by a call that was served. */
  readonly odd: Set<string>;
}

/** Decides whether the remote service refuses one call or the credentials. Counts each operation class separately. */
export class Refusals {
  private readonly classes = new Map<OperationClass, Refused>();

  /** Records a call that was served. Returns whether the calls before it were refused because of the credentials. */
  recordServed(request: RemoteRequest, now = performance.now()): boolean {
    const refused = this.classes.get(request.operation);
    if (refused === undefined) return false;
    const call = nameOf(request);
    refused.odd.delete(call);
    // Decides before the call leaves the row, because the call may be the last of DIFFERENT_CALLS.
    const wasAboutCredentials = isAboutCredentials(request, refused, now);
    refused.row.delete(call);
    if (!wasAboutCredentials) for (const each of refused.row) remember(refused.odd, each);
    refused.row.clear();
    return wasAboutCredentials;
  }

  recordRefused(request: RemoteRequest, now = performance.now()): Refusal {
    const refused = this.classes.get(request.operation) ?? { row: new Set(), beganAt: now, odd: new Set() };
    this.classes.set(request.operation, refused);
    const call = nameOf(request);
    const isOdd = refused.odd.delete(call);
    if (refused.row.size === 0) refused.beganAt = now;
    remember(refused.row, call);
    if (isAboutCredentials(request, refused, now)) return 'credentials';
    return isOdd ? 'call' : 'unknown';
  }

  /** Returns whether a refusal of this call would be about the call, not about the credentials. */
  isOdd(request: RemoteRequest): boolean {
    return this.classes.get(request.operation)?.odd.has(nameOf(request)) ?? false;
  }
}

const isAboutCredentials = ({ method }: RemoteRequest, { row, beganAt }: Refused, now: number): boolean =>
  row.size >= DIFFERENT_CALLS && now - beganAt >= (method === 'GET' ? READS_REFUSED_FOR_MS : 0);

/** Names a call by its body or the last part of its path. Both paths of a session end with its id. Registrations share one path. */
const nameOf = ({ path, body }: RemoteRequest): string => body ?? path.slice(path.lastIndexOf('/') + 1);

function remember(calls: Set<string>, call: string): void {
  if (calls.size < MOST_CALLS) calls.add(call);
}
