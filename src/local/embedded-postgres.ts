import { randomBytes } from 'node:crypto';
import { startChild, type ChildOptions } from './child.js';
import type { SupervisorRequest } from './postgres-supervisor.js';

/** Starts PostgreSQL on a free port of this machine. It stops when this process ends. `url` contains the superuser and its password. */
export async function startEmbeddedPostgres({
  logFile,
  execArgv,
  password = randomBytes(18).toString('base64url'),
  ...rest
}: Omit<SupervisorRequest, 'password'> & { password?: string } & Pick<ChildOptions, 'logFile' | 'execArgv'>) {
  const request: SupervisorRequest = { password, ...rest };
  const script = new URL('./postgres-supervisor.js', import.meta.url);
  return startChild({ name: 'the embedded PostgreSQL', script, request, logFile, execArgv });
}
