import { setTimeout as pause } from 'node:timers/promises';
import { Database } from '../../../src/platform/database/database.js';
import type { Environment } from '../../../src/platform/env/environment.js';
import { TestClient } from '../../setup/client.js';
import type { SandboxControl } from '../../setup/sandbox-control.js';
import type { TestApp } from '../../setup/test-app.js';
import type { scrape } from '../support/alerts.js';

export interface Planted {
  readonly app: TestApp;
  readonly client: TestClient;
  readonly database: Database;
  readonly control: SandboxControl;
  /** Watched sessions. */
  readonly ids: readonly string[];
  /** The metrics before the cause. */
  readonly earlier: Awaited<ReturnType<typeof scrape>>;
  /** Starts a further process on the same database. */
  readonly startAnother: (environment: Partial<Environment>) => Promise<TestApp>;
  /** What ends the cause, after the test. */
  readonly closing: (() => unknown)[];
}

export interface Cause {
  readonly environment?: Partial<Environment>;
  readonly plant: (planted: Planted) => Promise<unknown>;
  /** The reasons that name it, and a part of the sentence of each. */
  readonly reasons: Readonly<Record<string, string>>;
  /** What the first page of the console shows in the place of reasons; null if no process serves the console. */
  readonly shown?: readonly string[] | null;
  /** Further reasons that may occur meanwhile. */
  readonly also?: readonly string[];
  /** The alerts that name it. */
  readonly alerts: readonly string[];
  readonly alsoFires?: readonly string[];
}

/** Repeats work until the end of the test. Its errors are part of the cause. */
export function repeatUntilEnd({ closing }: Planted, everyMs: number, work: () => unknown): void {
  let goesOn = true;
  const repeated = (async () => {
    while (goesOn) {
      await Promise.resolve(work()).catch(() => {});
      await pause(everyMs);
    }
  })();
  closing.push(() => {
    goesOn = false;
    return repeated;
  });
}
