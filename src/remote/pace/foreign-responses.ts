import { isForeignRefusal, type RemoteResponse } from '../outcome.rules.js';

const COMPARED_LENGTH = 200;
/** Limits the memory, if every response differs. */
const MOST_FORMS = 100;
/** Refusals without a served call between them are notable once they have lasted this long. */
export const NOTABLE_MS = 20_000;
/** The service itself may refuse this many calls in a row for longer, if hardly any other call is due. A read is up to two calls. */
const FEW_REFUSALS = 10;

/**
 * Learns which foreign refusals (outcome.rules.ts) of one operation class come from the service after all. The service may refuse a call
 * without a JSON object, for example a missing session by an empty 404. A gateway that has lost its route to the service refuses all calls
 * alike. So a form is familiar from the time when the service serves another call after it. All forms are forgotten when nothing but
 * refusals has come for a while: the end of an outage teaches the form of the gateway, which must not hide the next outage.
 */
export class ForeignResponses {
  /** The forms received since the last served call, and the time of the first. */
  private readonly unproven = new Set<string>();
  private readonly familiar = new Set<string>();
  /** The number of refusals since the last served call, familiar or not, and the time of the first. */
  private row = { refusals: 0, beganAt: 0 };
  /** Since when unfamiliar refusals have been received. */
  private beganAt: number | undefined;

  recordServed(): void {
    for (const form of this.unproven) if (this.familiar.size < MOST_FORMS) this.familiar.add(form);
    this.unproven.clear();
    this.row = { refusals: 0, beganAt: 0 };
    this.beganAt = undefined;
  }

  /** Records a foreign refusal. Returns whether its form is familiar. */
  record(response: RemoteResponse, now = performance.now()): boolean {
    const form = formOf(response);
    const { refusals, beganAt } = this.row;
    this.row = { refusals: refusals + 1, beganAt: refusals === 0 ? now : beganAt };
    const isNotable = refusals >= FEW_REFUSALS && now - beganAt >= NOTABLE_MS;
    if (isNotable) this.familiar.clear();
    if (this.familiar.has(form)) return true;
    if (this.unproven.size < MOST_FORMS) this.unproven.add(form);
    this.beganAt ??= isNotable ? beganAt : now;
    return false;
  }

  /** Returns for how long unfamiliar refusals have been received without a served call between them. */
  lastedMs(now = performance.now()): number {
    return this.beganAt === undefined ? 0 : now - this.beganAt;
  }

  /** Returns whether the response has the form of an unfamiliar refusal, received since the last served call. */
  has(response: RemoteResponse): boolean {
    return isForeignRefusal(response) && this.unproven.has(formOf(response));
  }
}

/** Returns what equal responses have in common. Ids and times in a body differ, so digits do not count. */
const formOf = ({ status, contentType, body, bodyFault }: RemoteResponse): string =>
  JSON.stringify([status, contentType, bodyFault ?? body.slice(0, COMPARED_LENGTH).replaceAll(/\d/g, '0')]);
