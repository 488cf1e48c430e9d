import { join } from 'node:path';
import type { EnvironmentSource } from '../env/read-environment.js';
import { startChild, type Child } from './child.js';

export interface StartedSandbox {
  readonly child: Child;
  /** The variables that make our client call it. */
  readonly environment: Readonly<Record<string, string>>;
}

/** The credentials that the sandbox accepts by default. */
export const SANDBOX_CREDENTIALS = {
  SCS_API_KEY: 'sandbox-api-key',
  SCS_CLIENT_ID: 'sandbox-client-id',
  SCS_CLIENT_SECRET: 'sandbox-client-secret',
};

/** Starts the sandbox as a process of its own. It sees only the variables of our environment that are meant for it. */
export async function startSandbox(source: EnvironmentSource, folder: string): Promise<StartedSandbox> {
  const credentials = {
    SCS_API_KEY: source.SCS_API_KEY ?? SANDBOX_CREDENTIALS.SCS_API_KEY,
    SCS_CLIENT_ID: source.SCS_CLIENT_ID ?? SANDBOX_CREDENTIALS.SCS_CLIENT_ID,
    SCS_CLIENT_SECRET: source.SCS_CLIENT_SECRET ?? SANDBOX_CREDENTIALS.SCS_CLIENT_SECRET,
  };
  const child = await startChild({
    name: 'the sandbox',
    script: new URL('../../sandbox/main.js', import.meta.url),
    env: {
      PATH: source.PATH,
      SANDBOX_PORT: source.SANDBOX_PORT,
      SANDBOX_ALLOWED_HOSTS: source.SANDBOX_ALLOWED_HOSTS,
      SANDBOX_API_KEY: credentials.SCS_API_KEY,
      SANDBOX_CLIENT_ID: credentials.SCS_CLIENT_ID,
      SANDBOX_CLIENT_SECRET: credentials.SCS_CLIENT_SECRET,
      SANDBOX_STATE_FILE: source.SANDBOX_STATE_FILE ?? join(folder, 'sandbox.json'),
    },
    logFile: join(folder, 'sandbox.log'),
  });
  return { child, environment: { ...credentials, SCS_BASE_URL: child.url } };
}
