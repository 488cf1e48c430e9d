import { resolve } from 'node:path';
import type { Environment } from '../platform/env/environment.js';
import { readEnvironment, type EnvironmentSource } from '../platform/env/read-environment.js';
import { readGeneratedKeys } from '../platform/local/generated-keys.js';
import { startLocalServices, type LocalServices } from '../platform/local/local-services.js';
import { findRunningService } from '../platform/local/running-service.js';
import { SANDBOX_CREDENTIALS } from '../platform/local/sandbox.js';

/**
 * Provides the configuration of a command: the variables that are set. If they lack the database, it uses that of the service running in
 * this folder; if none runs, it starts the embedded one for the duration of the command.
 */
export class CommandEnvironment {
  private local: LocalServices | undefined;
  private readonly folder = resolve('.data');

  constructor(private readonly variables: EnvironmentSource) {}

  async read(): Promise<Environment> {
    return readEnvironment(await this.fill());
  }

  async stop(): Promise<void> {
    await this.local?.stop();
  }

  private async fill(): Promise<EnvironmentSource> {
    // A command never polls or runs jobs; only the service does.
    const own = { ...this.variables, ROLE: 'api' };
    if (this.variables.NODE_ENV === 'production') return own;
    const running = await findRunningService(this.folder);
    if (running === undefined) {
      this.local = await startLocalServices(own, this.folder, { sandbox: false }, () => {});
      return this.local.source;
    }
    const keys = await readGeneratedKeys(this.folder);
    return {
      DATABASE_URL: running.databaseUrl,
      SCS_BASE_URL: running.remoteUrl,
      ...SANDBOX_CREDENTIALS,
      ADMIN_API_KEY: keys.adminApiKey,
      ENCRYPTION_KEYS: keys.encryptionKey,
      ...own,
    };
  }
}
