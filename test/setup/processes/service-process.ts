import { tmpdir } from 'node:os';
import { startTestProcess, type TestProcess } from './test-process.js';
import { testEnvironment } from '../test-environment.js';

/** Starts the whole service in a child process. `environment` must contain DATABASE_URL and the SCS_* variables of a sandbox. */
export async function startServiceProcess(
  environment: Record<string, string>,
  by?: readonly string[],
): Promise<TestProcess> {
  // Runs outside the repository, so that it does not overwrite the state file of a developer's running service.
  return startTestProcess('src/main.ts', { ...testEnvironment(), ...environment }, tmpdir(), [], by);
}
