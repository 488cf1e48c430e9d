import { afterAll, beforeAll } from '@jest/globals';
import { RawClient } from '../../contract/raw-client.js';
import { startSandbox, type TestSandbox } from './sandbox.js';

/** Starts a sandbox before the tests of the block, and stops it after them. Its properties can be read once it has started. */
export function useSandbox(): TestSandbox {
  const started = {} as TestSandbox;
  beforeAll(async () => void Object.assign(started, await startSandbox()));
  afterAll(async () => void (await started.stop()));
  return started;
}

export interface StartedSession {
  readonly userId: string;
  readonly gridLocationId: string;
  readonly sessionId: string;
  readonly startUrl: string;
}

export const authorisedClientOf = async ({ url, environment }: TestSandbox): Promise<RawClient> => {
  const client = new RawClient({
    name: 'the sandbox',
    baseUrl: url,
    apiKey: environment.SCS_API_KEY,
    clientId: environment.SCS_CLIENT_ID,
    clientSecret: environment.SCS_CLIENT_SECRET,
  });
  await client.authorise();
  return client;
};

export const startRemoteSession = async (
  client: RawClient,
  tenantReference = 'A-1',
): Promise<StartedSession> => {
  const user = JSON.parse((await client.register(tenantReference, ['541448860000000013'])).text);
  const gridLocationId: string = user.gridLocations[0].id;
  const { sessionId, startUrl } = JSON.parse((await client.start(gridLocationId)).text);
  return { userId: user.id, gridLocationId, sessionId, startUrl };
};
