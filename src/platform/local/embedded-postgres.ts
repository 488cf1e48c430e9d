import { randomBytes } from 'node:crypto';
import { startChild, type Child } from './child.js';
import type { SupervisorRequest } from './postgres-supervisor.js';

export interface EmbeddedPostgresOptions extends Partial<SupervisorRequest> {
  /** Everything of this PostgreSQL stands in it, and nothing else. */
  readonly folder: string;
  readonly logFile?: string;
  readonly execArgv?: readonly string[];
}

/** A real PostgreSQL on a free port of this machine, as long as this process lives; `url` is its administrator's. */
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
