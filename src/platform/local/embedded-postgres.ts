import { randomBytes } from 'node:crypto';
import { startChild, type Child } from './child.js';
import type { SupervisorRequest } from './postgres-supervisor.js';

export interface EmbeddedPostgresOptions extends Partial<SupervisorRequest> {
  /** Contains all files of this PostgreSQL and no others. */
  readonly folder: string;
  readonly logFile?: string;
  readonly execArgv?: readonly string[];
}

/** Starts a real PostgreSQL on a free port of this machine for the lifetime of this process; `url` is that of its administrator. */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<Child> {
  const { logFile, execArgv, ...rest } = options;
  const request: SupervisorRequest = {
    password: randomBytes(18).toString('base64url'),
    settings: {},
    temporary: false,
    ...rest,
  };
  return startChild({
    name: 'the embedded PostgreSQL',
    script: new URL('./postgres-supervisor.js', import.meta.url),
    request,
    logFile,
    execArgv,
  });
}
