import { SandboxControl } from './sandbox-control.js';
import { CREDENTIALS } from '../test-environment.js';
import { startTestProcess, type TestProcess } from '../processes/test-process.js';

export interface TestSandbox {
  readonly url: string;
  /** The variables that make the service call this sandbox. */
  readonly environment: {
    readonly SCS_BASE_URL: string;
    readonly SCS_API_KEY: string;
    readonly SCS_CLIENT_ID: string;
    readonly SCS_CLIENT_SECRET: string;
  };
  readonly control: SandboxControl;
  stop(): Promise<unknown>;
}

/** Starts a sandbox on a free port, in the process that all sandboxes of the test run share (sandboxes.process.ts). */
export async function startSandbox(): Promise<TestSandbox> {
  const shared = process.env.PV_TEST_SANDBOXES_URL ?? '';
  const url = await (await fetch(shared, { method: 'POST' })).text();
  return {
    ...sandboxAt(url),
    stop: () => fetch(new URL(new URL(url).port, shared), { method: 'DELETE' }),
  };
}

/** Starts a sandbox in a process of its own on a free port. `env` is added to its environment, for instance SANDBOX_STATE_FILE; `args` are its arguments. */
export async function startSandboxProcess(
  env: Readonly<Record<string, string>> = {},
  args: readonly string[] = [],
): Promise<TestSandbox & Pick<TestProcess, 'pid' | 'stop'>> {
  const variables = {
    SANDBOX_PORT: '0',
    SANDBOX_API_KEY: CREDENTIALS.SCS_API_KEY,
    SANDBOX_CLIENT_ID: CREDENTIALS.SCS_CLIENT_ID,
    SANDBOX_CLIENT_SECRET: CREDENTIALS.SCS_CLIENT_SECRET,
    ...env,
  };
  const { url, pid, stop } = await startTestProcess('sandbox/main.ts', variables, undefined, args);
  return { ...sandboxAt(url), pid, stop };
}

const sandboxAt = (url: string): Omit<TestSandbox, 'stop'> => ({
  url,
  environment: { SCS_BASE_URL: url, ...CREDENTIALS },
  control: new SandboxControl(url),
});
