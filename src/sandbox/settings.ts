import type { ScenarioName } from './scenarios.js';

/** The settings that the control API can change; a reset restores these defaults. */
export interface Settings {
  /** The path shape of section 4.4 that is served; the other one returns 404. */
  sessionPath: 'both' | 'onboarding' | 'user';
  /**
   * The form of `expires_in` (section 2.2), or an object whose `value` is returned verbatim; if `value` is absent, the field is omitted.
   */
  tokenForm: 'timestamp' | 'seconds' | { readonly value?: unknown };
  tokenLifetimeMs: number;
  sessionLifetimeMs: number;
  /** Added to every response of the remote interface. */
  latencyMs: number;
  /** Requests beyond this are refused; 0 means no limit. */
  maxInFlight: number;
  overloadStatus: number;
  /** The Retry-After header of a refused request, verbatim. */
  overloadRetryAfter: string | null;
  scenario: ScenarioName;
  /** How many times faster than described the scenario of a new session runs. */
  speed: number;
  brands: Brand[];
}

export interface Brand {
  readonly id: string;
  readonly name: string;
  /** Time from the end of the web flow until the installation is online; null waits for the control API. */
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
    { id: 'manual', name: 'Manual (waits for the control API)', onlineAfterMs: null },
  ],
});
