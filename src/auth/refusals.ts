import type { OperationClass, RemoteRequest } from '../remote/outcome.rules.js';

/**
 * What a refused call (401 or 403) is about.
 * - `credentials`: several different calls in a row were refused, and none was served.
 * - `call`: the service has served another call since it last refused this one.
 * - `unknown`: neither is known yet.
 */
export type Refusal = 'credentials' | 'call' | 'unknown';

/** This many different calls in a row are about the credentials. */
const DIFFERENT_CALLS = 5;
/** Reads must also be refused for this long. The sessions of one deleted account are due together, but are read within a second. */
// A refused read is only repeated, so a late conclusion costs little. A refused POST may need a person, so it does not wait for this.
const READS_REFUSED_FOR_MS = 2_000;
/** Limits the memory for calls that are refused and never sent again. */
const MOST_CALLS = 10_000;

interface Refused {
  /** The calls refused since the last one that was served, and the time of the first. */
  readonly row: Set<string>;
  beganAt: number;
  /** The calls whose last refusal was followed by a call that was served. */
  readonly odd: Set<string>;
}

/** Distinguishes a call that the remote service refuses from credentials that it refuses. Counts each class of operations on its own. */
export class Refusals {
  private readonly classes = new Map<OperationClass, Refused>();

  /** Records a call that was served. Returns whether the calls before it were refused because of the credentials. */
  recordServed(request: RemoteRequest, now = performance.now()): boolean {
    const refused = this.classes.get(request.operation);
    if (refused === undefined) return false;
    const call = nameOf(request);
    refused.odd.delete(call);
    // Before the call leaves the row: it may be the fifth.
    const wasAboutCredentials = isAboutCredentials(request, refused, now);
    refused.row.delete(call);
    if (!wasAboutCredentials) for (const each of refused.row) remember(refused.odd, each);
    refused.row.clear();
    return wasAboutCredentials;
  }

  /** Records a refused call, and returns what the refusal is about. */
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

  /** Returns whether a refusal of this call would be about this call. */
  isOdd(request: RemoteRequest): boolean {
    return this.classes.get(request.operation)?.odd.has(nameOf(request)) ?? false;
  }
}

const isAboutCredentials = ({ method }: RemoteRequest, { row, beganAt }: Refused, now: number): boolean =>
  row.size >= DIFFERENT_CALLS && now - beganAt >= (method === 'GET' ? READS_REFUSED_FOR_MS : 0);

/** Returns the same name for both paths of a session, whose last part is its id. All registrations have one path. */
const nameOf = ({ path, body }: RemoteRequest): string => body ?? path.slice(path.lastIndexOf('/') + 1);

function remember(calls: Set<string>, call: string): void {
  if (calls.size < MOST_CALLS) calls.add(call);
}
