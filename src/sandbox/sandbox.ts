import type { Faults } from './faults.js';
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
  settings(): Settings;
  change(settings: Partial<Settings>): void;
  /** Clears all state and restores the default settings. */
  reset(): void;
  /** Returns the address of the sandbox; valid once it listens. */
  url(): string;
}
