import { SandboxControl } from './sandbox-control.js';
import { startTestProcess } from './test-process.js';

export interface TestSandbox {
  readonly url: string;
  readonly pid: number;
  /** The variables that make the service call this sandbox. */
  readonly environment: {
    readonly SCS_BASE_URL: string;
    readonly SCS_API_KEY: string;
    readonly SCS_CLIENT_ID: string;
    readonly SCS_CLIENT_SECRET: string;
  };
  readonly control: SandboxControl;
  logs(): string;
  stop(signal?: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

const CREDENTIALS = {
  SCS_API_KEY: 'test-api-key-of-the-sandbox',
  SCS_CLIENT_ID: 'test-client-id-of-the-sandbox',
  SCS_CLIENT_SECRET: 'test-client-secret-of-the-sandbox',
};

/** Starts a sandbox in its own process on a free port. `env` is added to its environment, for instance SANDBOX_STATE_FILE. */
export async function startSandbox(env: Readonly<Record<string, string>> = {}): Promise<TestSandbox> {
  const { url, pid, logs, stop } = await startTestProcess('src/sandbox/main.ts', {
    SANDBOX_PORT: '0',
    SANDBOX_API_KEY: CREDENTIALS.SCS_API_KEY,
    SANDBOX_CLIENT_ID: CREDENTIALS.SCS_CLIENT_ID,
    SANDBOX_CLIENT_SECRET: CREDENTIALS.SCS_CLIENT_SECRET,
    ...env,
  });
  return {
    url,
    pid,
    environment: { SCS_BASE_URL: url, ...CREDENTIALS },
    control: new SandboxControl(url),
    logs,
    stop,
  };
}
