import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Database } from '../../../../src/platform/database/database.js';
import type { Environment } from '../../../../src/platform/env/environment.js';
import { TestClient } from '../../../setup/client.js';
import { startTestApp } from '../../../setup/test-app.js';
import { CREDENTIALS } from '../../../setup/test-environment.js';
import { startScriptedRemote, type ScriptedRemote } from './scripted-remote.js';

export interface ScriptedService {
  readonly remote: ScriptedRemote;
  readonly client: TestClient;
  readonly database: Database;
  close(): Promise<void>;
}

export async function startScriptedService(
  environment: Partial<Environment>,
  prepare: (app: NestFastifyApplication) => void = () => {},
): Promise<ScriptedService> {
  const remote = await startScriptedRemote();
  const service = await startTestApp(
    { SCS_BASE_URL: remote.url, ...CREDENTIALS, LOG_LEVEL: 'error', ...environment },
    { prepare },
  );
  return {
    remote,
    client: TestClient.of(service),
    database: service.database,
    close: async () => {
      await service.close();
      await remote.close();
    },
  };
}
