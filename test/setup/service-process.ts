import { tmpdir } from 'node:os';
import { startTestProcess, type TestProcess } from './test-process.js';
import { testEnvironment } from './test-environment.js';

/**
 * The whole service as a process of its own, to be killed, stopped and started several times over. `environment` needs
 * DATABASE_URL and the SCS_* of a sandbox; the rest is as in `startTestApp`. It comes from the build where that is of these sources:
 * its modules take two thirds of the time to load.
 */
export async function startServiceProcess(environment: Record<string, string>): Promise<TestProcess> {
  // Not in the repository, where it would overwrite what a developer's running service says of itself.
  return startTestProcess(
    process.env.PV_TEST_SERVICE ?? 'src/main.ts',
    { ...testEnvironment(), ...environment },
    tmpdir(),
  );
}
