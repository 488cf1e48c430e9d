import { backoffMs } from '../../platform/async/backoff.rules.js';
import { describeNotSent, NOT_SENT_TEXT, type Outcome } from '../../remote/outcome.rules.js';

export const START_STATUSES = ['sending', 'started', 'failed'] as const;
export type StartStatus = (typeof START_STATUSES)[number];

/** Why a start has failed. `error` may quote the remote service. `reason` goes into an event and must not quote it. */
export interface StartFailure {
  readonly error: string;
  readonly reason: string;
}

/** The wait after a failed start that may have left an orphan. Otherwise each request would leave another. */
const BACKOFF = { firstMs: 5_000, mostMs: 300_000 };

/** The failed starts of a location and brand that may have left orphans, since the last start that succeeded. */
export interface FailedStarts {
  readonly failures: number;
  /** How long ago the last of them failed. */
  readonly agoMs: number;
}

/** Returns in how many milliseconds the location and brand may be started again; 0: now. */
export const waitAfterFailures = ({ failures, agoMs }: FailedStarts): number =>
  failures === 0 ? 0 : Math.max(0, backoffMs(BACKOFF, failures) - agoMs);

const failure = (reason: string, error = reason): StartFailure => ({ error, reason });

/** Returns why a call did not start a session, or why nobody knows whether it did. */
export function failureOf(outcome: Exclude<Outcome<unknown>, { kind: 'done' }>): StartFailure {
  switch (outcome.kind) {
    case 'rejected': {
      const reason = `the Solar Curtailment Service rejected it with status ${outcome.status}`;
      return failure(reason, `${reason}: ${outcome.detail}`);
    }
    case 'not_sent': {
      const reason = `it was not sent (${outcome.reason})`;
      return failure(`${reason}: ${NOT_SENT_TEXT[outcome.reason]}`, `${reason}: ${describeNotSent(outcome)}`);
    }
    case 'ambiguous':
      return outcome.status === undefined
        ? failure(`it was sent, but its response was lost (${outcome.reason})`)
        : failure(
            `the Solar Curtailment Service responded with status ${outcome.status}, which does not say whether it started a session`,
          );
    case 'unreadable':
      return failure(`the response with status ${outcome.status} could not be read (${outcome.reason})`);
  }
}

/** Returns the failure of a start whose response has the session id of another object. `owner` describes that object without its id. */
export const foreignFailure = (owner: string): StartFailure =>
  failure(`the sessionId of the response belongs to ${owner}`);

/** Returns the failure of a start whose session the database has refused to store. `why` describes its error. */
export const notStored = (why: string): StartFailure =>
  failure(`the session was started, but could not be stored (${why})`);

export const RELEASED = failure('it was released before it was sent again');

/** The failure of a start whose lease expired before its process stored the outcome. */
export const ABANDONED = failure(
  'the lease expired before the outcome was stored: the process died or stalled, or the database could not store it',
);

export const ERASED = failure('the user was erased');
