import type { OperationClass, RemoteRequest } from '../remote/outcome.rules.js';

/**
 * What a refusal is about: a 401 or 403 (`refused`), a 4xx that refuses what the request contains (`content`), or any other 4xx (`missing`:
 * nothing is there, or something in front of the service responds).
 * - `all`: several different calls in a row were refused, and none was served. So a 401 or 403 is about the credentials, and anything else
 *   about the way to the service.
 * - `call`: the service has served another call since it last refused this one.
 * - `unknown`: neither is known yet.
 */
export type Refusal = 'all' | 'call' | 'unknown';
export type RefusalKind = 'refused' | 'missing' | 'content';

/** If this many different calls are refused in a row, the refusals are about all calls. */
const DIFFERENT_CALLS = 5;
/** Refused reads are about the credentials only if they last this long. Sessions of a deleted account are all refused within a second. */
// A refused read is only retried, so a late conclusion costs little. POSTs have no such time: a refused POST may need a person.
const READS_REFUSED_FOR_MS = 2_000;
/** Missing calls are about all calls only if they last this long: several sessions may be deleted together. */
const MISSING_FOR_MS = 20_000;
/** If at most this many calls are missing in a row, each may be missing by itself. Beyond, a gateway probably lacks the path. */
const FEW_CALLS = 20;
/** A POST is finally refused after so many refusals about the call, over a time that is longer than a deployment takes. */
const LASTING = { refusals: 5, forMs: 8 * 60_000 };
/** Limits the memory for calls that are refused and never sent again. */
const MOST_CALLS = 10_000;

interface Refused {
  /** The calls refused since the last served call, and the time of the first refusal. */
  readonly row: Map<string, RefusalKind>;
  beganAt: number;
  /** The calls whose last refusal was followed by a call that was served. */
  readonly odd: Set<string>;
  /** For each POST that has not been served since its first refusal: the time of that refusal, and how many refusals were about this call. */
  readonly posts: Map<string, { readonly since: number; refusals: number }>;
}

/** Decides whether the remote service refuses one call or all calls. Counts each operation class separately. */
export class Refusals {
  private readonly classes = new Map<OperationClass, Refused>();

  /** Records a call that was served. So the calls refused before it are odd, unless all were refused because of the credentials. */
  recordServed(request: RemoteRequest, now = performance.now()): void {
    const refused = this.classes.get(request.operation);
    if (refused === undefined) return;
    const call = nameOf(request);
    refused.odd.delete(call);
    refused.posts.delete(call);
    // Decides before the call leaves the row, because the call may be the last of DIFFERENT_CALLS.
    const wasAboutCredentials = isAboutAll(request, refused, 'refused', now);
    refused.row.delete(call);
    for (const [each, kind] of refused.row)
      if (kind !== 'refused' || !wasAboutCredentials) remember(refused.odd, each);
    refused.row.clear();
  }

  recordRefused(request: RemoteRequest, now = performance.now(), kind: RefusalKind = 'refused'): Refusal {
    const refused = this.classes.get(request.operation) ?? noneRefused(now);
    this.classes.set(request.operation, refused);
    const call = nameOf(request);
    const isOdd = refused.odd.delete(call);
    if (refused.row.size === 0) refused.beganAt = now;
    if (refused.row.size < MOST_CALLS) refused.row.set(call, kind);
    if (request.method === 'POST') countPost(refused, call, isOdd, now);
    // A call may be missing although other calls in the row are, too: the service has served others meanwhile.
    if (kind !== 'refused' && isOdd) return 'call';
    if (isAboutAll(request, refused, kind, now)) return 'all';
    return isOdd ? 'call' : 'unknown';
  }

  /** Returns whether the refusals of a POST are final: the service has refused it often and for long, and served others meanwhile. */
  isLasting(request: RemoteRequest, now = performance.now()): boolean {
    const post = this.classes.get(request.operation)?.posts.get(nameOf(request));
    return post !== undefined && post.refusals >= LASTING.refusals && now - post.since >= LASTING.forMs;
  }

  /** Returns whether all calls are refused (`refusal`), but not for long yet: something in front of the service may refuse them. */
  isSudden(operation: OperationClass, refusal: Refusal, now = performance.now()): boolean {
    const { beganAt } = this.classes.get(operation) ?? noneRefused(now);
    return refusal === 'all' && now - beganAt < LASTING.forMs;
  }

  /** Returns whether only few calls have been refused since the last served call, and whether this has lasted. One must have been refused. */
  rowOf(operation: OperationClass, now = performance.now()) {
    const { row, beganAt } = this.classes.get(operation) ?? noneRefused(now);
    return { isOfFew: row.size <= FEW_CALLS, hasLasted: now - beganAt >= MISSING_FOR_MS };
  }

  /** Returns whether a refusal of this call would be about the call, not about the credentials. */
  isOdd(request: RemoteRequest): boolean {
    return this.classes.get(request.operation)?.odd.has(nameOf(request)) ?? false;
  }
}

const noneRefused = (now: number): Refused => ({
  row: new Map(),
  beganAt: now,
  odd: new Set(),
  posts: new Map(),
});

function isAboutAll(
  { method }: RemoteRequest,
  { row, beganAt }: Refused,
  kind: RefusalKind,
  now: number,
): boolean {
  const refusedForMs = method === 'GET' ? READS_REFUSED_FOR_MS : 0;
  const calls = [...row.values()].filter((each) => each === kind).length;
  return calls >= DIFFERENT_CALLS && now - beganAt >= (kind === 'missing' ? MISSING_FOR_MS : refusedForMs);
}

function countPost({ posts }: Refused, call: string, isOdd: boolean, now: number): void {
  const post = posts.get(call) ?? { since: now, refusals: 0 };
  if (isOdd) post.refusals++;
  if (posts.has(call) || posts.size < MOST_CALLS) posts.set(call, post);
}

/** Names a call by its body or the last part of its path. Both paths of a session end with its id. Registrations share one path. */
const nameOf = ({ path, body }: RemoteRequest): string => body ?? path.slice(path.lastIndexOf('/') + 1);

function remember(calls: Set<string>, call: string): void {
  if (calls.size < MOST_CALLS) calls.add(call);
}
