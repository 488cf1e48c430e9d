import type { Faults } from './faults.js';
import type { Habits } from './habits.js';
import type { Ledger } from './ledger.js';
import type { Settings } from './settings.js';
import type { State } from './state.js';

export interface Credentials {
  readonly apiKey: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** The context shared by all routes. */
export interface Sandbox {
  readonly state: State;
  readonly faults: Faults;
  readonly ledger: Ledger;
  readonly credentials: Credentials;
  /** The origin at which other machines reach the sandbox; null if none is configured. */
  readonly publicUrl: string | null;
  settings(): Settings;
  change(settings: Partial<Settings>): void;
  /** How a recorded service behaves, or null without a recording. */
  habits(): Habits | null;
  /** Behaves like a recorded service from now on. */
  like(habits: Habits): void;
  /** Clears the state, the faults and the ledger, and restores the settings and the habits of the start. */
  reset(): void;
  /** Returns the base URL of every `startUrl`. May be called once the sandbox listens. */
  url(): string;
}
