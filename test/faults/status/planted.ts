import { setTimeout as pause } from 'node:timers/promises';
import { Database } from '../../../src/platform/database/database.js';
import type { Environment } from '../../../src/platform/env/environment.js';
import { TestClient } from '../../setup/client.js';
import type { SandboxControl } from '../../setup/sandbox/sandbox-control.js';
import type { TestApp } from '../../setup/test-app.js';
import type { scrape } from '../support/alerts.js';

export interface Planted {
  readonly app: TestApp;
  readonly client: TestClient;
  readonly database: Database;
  readonly control: SandboxControl;
  /** The ids of the watched sessions. */
  readonly ids: readonly string[];
  /** The metrics before the cause was planted. */
  readonly earlier: Awaited<ReturnType<typeof scrape>>;
  /** Starts a further process on the same database. */
  readonly startAnother: (environment: Partial<Environment>) => Promise<TestApp>;
  /** Functions that end the cause after the test. */
  readonly closing: (() => unknown)[];
}

export interface Cause {
  readonly environment?: Partial<Environment>;
  readonly plant: (planted: Planted) => Promise<unknown>;
  /** The reasons that name the cause, each with a part of its sentence. */
  readonly reasons: Readonly<Record<string, string>>;
  /** The texts on the first page of the console. Default: those of the reasons. Null if nobody can sign in to the console. */
  readonly shown?: readonly string[] | null;
  /** Further reasons that may be present. */
  readonly also?: readonly string[];
  /** Whether no session is read, so that sessions may become stale on a slow machine. */
  readonly readsStop?: boolean;
}

/** Repeats `work` until the end of the test. Ignores its errors, which are part of the cause. */
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
