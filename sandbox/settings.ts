import type { Habits } from './habits.js';
import type { ScenarioName } from './scenarios.js';

/** The settings that the control API can change. A reset restores `defaultSettings`. */
export interface Settings {
  /** Which paths of a session (section 4.4) are served. The sandbox returns 404 for another path. */
  sessionPath: 'both' | 'onboarding' | 'user';
  /** The form of `expires_in` (section 2.2). An object sets its `value` verbatim; an object without `value` omits the field. */
  tokenForm: 'timestamp' | 'seconds' | { readonly value?: unknown };
  tokenLifetimeMs: number;
  sessionLifetimeMs: number;
  /** Delays the responses of the remote interface, except refusals for overload or wrong credentials. */
  latencyMs: number;
  /** Concurrent requests beyond this number are refused. 0 means no limit. */
  maxInFlight: number;
  overloadStatus: number;
  /** The Retry-After header of the response to overload, verbatim. If null, the header is omitted. */
  overloadRetryAfter: string | null;
  scenario: ScenarioName;
  /** The speed of a new session's scenario: 2 halves its delays. */
  speed: number;
  brands: Brand[];
}

export interface Brand {
  readonly id: string;
  readonly name: string;
  /** The time from the end of the web flow until the inverters come online. If null, only the control API brings them online. */
  readonly onlineAfterMs: number | null;
}

const DAY_MS = 86_400_000;

export const defaultSettings = (): Settings => ({
  sessionPath: 'both',
  tokenForm: 'timestamp',
  tokenLifetimeMs: 14 * DAY_MS,
  sessionLifetimeMs: DAY_MS,
  latencyMs: 0,
  maxInFlight: 0,
  overloadStatus: 429,
  overloadRetryAfter: null,
  scenario: 'by-hand',
  speed: 1,
  brands: [
    { id: 'heliotec', name: 'Heliotec', onlineAfterMs: 5_000 },
    { id: 'sunward', name: 'Sunward', onlineAfterMs: 2_000 },
    { id: 'northlight', name: 'Northlight', onlineAfterMs: 20_000 },
    { id: 'voltaris', name: 'Voltaris', onlineAfterMs: 120_000 },
    { id: 'manual', name: 'Manual', onlineAfterMs: null },
  ],
});

/** Returns the settings that a recorded service has. They can be changed like all others. */
export const settingsLike = ({ sessionPath, token, start }: Habits): Partial<Settings> => ({
  sessionPath,
  tokenLifetimeMs: token.lifetimeSeconds * 1_000,
  ...(start?.lifetimeSeconds && { sessionLifetimeMs: start.lifetimeSeconds * 1_000 }),
});
