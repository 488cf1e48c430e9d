import { startTestProcess, type TestProcess } from './test-process.js';
import { testEnvironment } from './test-environment.js';

/**
 * The whole service as a process of its own, to be killed, stopped and started several times over. `environment` needs
 * DATABASE_URL and the SCS_* of a sandbox; the rest is as in `startTestApp`.
 */
export async function startServiceProcess(environment: Record<string, string>): Promise<TestProcess> {
  return startTestProcess('src/main.ts', { ...testEnvironment(), ...environment });
}
