import { isForeignRefusal, type RemoteResponse } from '../outcome.rules.js';

const COMPARED_LENGTH = 200;
/** Limits the memory, if every response differs. */
const MOST_FORMS = 100;

/**
 * Learns which foreign refusals (outcome.rules.ts) of one operation class come from the service after all. The service may refuse a call
 * without a JSON object, for example a missing session by an empty 404. A gateway that has lost its route to the service refuses all calls
 * alike. So a form is familiar from the time when the service serves another call after it.
 */
export class ForeignResponses {
  /** The forms received since the last served call, and the time of the first. */
  private readonly unproven = new Set<string>();
  private readonly familiar = new Set<string>();
  private beganAt: number | undefined;

  recordServed(): void {
    for (const form of this.unproven) if (this.familiar.size < MOST_FORMS) this.familiar.add(form);
    this.unproven.clear();
    this.beganAt = undefined;
  }

  /** Records a foreign refusal. Returns whether its form is familiar. */
  record(response: RemoteResponse, now = performance.now()): boolean {
    const form = formOf(response);
    if (this.familiar.has(form)) return true;
    if (this.unproven.size < MOST_FORMS) this.unproven.add(form);
    this.beganAt ??= now;
    return false;
  }

  /** Returns for how long unfamiliar refusals have been received without a served call between them. */
  lastedMs(now = performance.now()): number {
    return this.beganAt === undefined ? 0 : now - this.beganAt;
  }

  /** Returns whether the response has the form of an unfamiliar refusal that was received since the last served call. */
  has(response: RemoteResponse): boolean {
    return isForeignRefusal(response) && this.unproven.has(formOf(response));
  }
}

/** Returns what equal responses have in common. Ids and times in a body differ, so digits do not count. */
const formOf = ({ status, contentType, body, bodyFault }: RemoteResponse): string =>
  JSON.stringify([status, contentType, bodyFault ?? body.slice(0, COMPARED_LENGTH).replaceAll(/\d/g, '0')]);
