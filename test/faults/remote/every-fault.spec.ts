import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { PathShape } from '../../../src/onboarding/remote/session.client.js';
import { Database } from '../../../src/platform/database/database.js';
import { Remote } from '../../../src/remote/remote.service.js';
import { Wire } from '../../../src/remote/wire/wire.js';
import { remoteEnvironment } from '../../e2e/remote/fixture.js';
import type { TestClient } from '../../setup/client.js';
import { newEan } from '../../setup/ean.js';
import type { SandboxControl, SandboxOperation } from '../../setup/sandbox/sandbox-control.js';
import { waitFor } from '../../setup/wait-for.js';
import { startAtLast } from '../support/evidence/lost-starts.js';
import { readRegistrations } from '../support/evidence/registration-ledger.js';
import { findDifferences } from '../support/evidence/remote-truth.js';
import { allAtLength, isLong, itAtLength, promise } from '../support/promise.js';
import { DISTINCT_FAULTS, REMOTE_FAULTS, type RemoteFault } from '../support/network/remote-faults.js';
import { startReplicas, type Replicas } from '../support/replicas.js';

jest.setTimeout(900_000);

/** Only faults of the long test last until it is over. In the short test, it would end good calls on a busy machine. */
const TIMEOUT_MS = isLong ? 1_000 : 10_000;
const WAIT_MS = 60_000;
const NAMES = isLong ? Object.keys(REMOTE_FAULTS) : DISTINCT_FAULTS;
const PATHS: readonly PathShape[] = ['onboarding', 'user'];

let replicas: Replicas;
/** Texts of requests for which no connection is accepted. */
let unreachable: string[];
afterEach(async () => {
  await replicas.close();
  jest.restoreAllMocks();
});

const client = (): TestClient => replicas.clients[0]!;
const control = (): SandboxControl => replicas.sandbox.control;
const database = (): Database => replicas.apps[0]!.database;

async function start(prepare: (app: NestFastifyApplication) => void = () => {}): Promise<void> {
  unreachable = [];
  replicas = await startReplicas({
    count: 1,
    environment: { SCS_TIMEOUT_MS: TIMEOUT_MS, POLL_MAX_INTERVAL_MS: 200 },
    prepare: (app) => {
      prepare(app);
      const axios = app.get(Remote)['wire']['axios'];
      const request = axios.request.bind(axios);
      // Nothing listens on port 9.
      const nowhere = new Wire(remoteEnvironment({ SCS_BASE_URL: 'http://127.0.0.1:9' }))['axios'];
      axios.request = (config) => {
        const isUnreachable = unreachable.some((text) =>
          `${config.url} ${String(config.data)}`.includes(text),
        );
        return isUnreachable ? nowhere.request(config) : request(config);
      };
    },
  });
}

/** Puts a fault on the calls that contain a text, until `clearFaults`. */
async function addFault(
  fault: RemoteFault,
  operation: SandboxOperation,
  contains: string,
  times: number | null,
) {
  if (fault === 'unreachable') unreachable.push(contains);
  else await control().addFault({ ...fault, operation, contains, times });
}

async function clearFaults(): Promise<void> {
  unreachable = [];
  await control().clearFaults();
}

const register = (tenantReference: string) =>
  client().call('POST', '/users', { tenantReference, gridLocations: [{ ean: newEan() }] });

const statusOf = async (reference: string) =>
  (await readRegistrations(database())).find(({ tenantReference }) => tenantReference === reference);

const untilRegistered = (reference: string, decide = async () => {}) =>
  waitFor(
    `${reference} is registered`,
    async () => {
      await decide();
      return (await statusOf(reference))?.status === 'registered';
    },
    WAIT_MS,
  );

const untilOnline = (id: string) =>
  waitFor(`${id} is online`, async () => (await client().session(id)).state === 'online', WAIT_MS);

/** Decides like a person who has asked the provider whether the user exists. */
async function decide(reference: string): Promise<void> {
  const registration = await statusOf(reference);
  if (registration === undefined || !['uncertain', 'rejected'].includes(registration.status)) return;
  const user = (await control().users()).find(({ tenantReference }) => tenantReference === reference);
  const [decision, body] = user === undefined ? ['retry', {}] : ['resolve', user];
  await client().call('POST', `/registrations/${registration.id}/${decision}`, body);
}

/** Obtains a token while the token request has the fault. Other calls wait for it. */
async function meetAtToken(fault: RemoteFault): Promise<void> {
  await control().revokeTokens();
  await addFault(fault, 'token', fault === 'unreachable' ? '/oauth/token' : 'oauth', 1);
  const reference = `token ${randomUUID()}`;
  await register(reference);
  if (fault === 'unreachable') await clearFaults();
  await untilRegistered(reference, () => decide(reference));
}

/** Registers, starts and reads with the fault and without it. The calls without it must succeed while the others meet it. */
async function meetAtCalls(fault: RemoteFault): Promise<void> {
  const [location, goodLocation] = [await client().locate(), await client().locate()];
  const [session, goodSession] = [await client().startNew(), await client().startNew()];
  const [reference, goodReference] = [`faulty ${randomUUID()}`, `good ${randomUUID()}`];
  await addFault(fault, 'register_user', reference, null);
  await addFault(fault, 'start_session', location, null);
  await addFault(fault, 'read_session', session.id, null);
  for (const { id } of [session, goodSession]) await control().online(id, { inverters: 1 });

  const faulty = [register(reference), client().start(location)];
  await register(goodReference);
  await Promise.all([
    untilRegistered(goodReference),
    startAtLast(client(), goodLocation),
    untilOnline(goodSession.id),
    ...faulty,
  ]);
  expect((await client().session(session.id)).state).toMatch(/^(awaiting_owner|lost)$/);
  await waitFor(
    'each call has met the fault',
    async () => {
      const unused = (await control().faults()).filter(({ used }) => used === 0);
      // A refused token blocks calls for a while. The service retries registrations and reads by itself, so only a start needs another
      // request.
      if (unused.some(({ operation }) => operation === 'start_session')) await client().start(location);
      return unused.length === 0;
    },
    WAIT_MS,
  );

  await clearFaults();
  const started = await Promise.all([
    startAtLast(client(), location),
    untilRegistered(reference, () => decide(reference)),
    untilOnline(session.id),
  ]);
  expect(started[0].body.startUrl).toEqual(expect.any(String));
}

describe('R78: each fault at each remote call loses, doubles and guesses nothing', () => {
  it.each(allAtLength(PATHS))(
    'while other work continues, and all converge; sessions at the path %s',
    async (sessionPath) => {
      await start();
      await control().change({ sessionPath });
      for (const name of NAMES) {
        const fault = REMOTE_FAULTS[name]!;
        await meetAtToken(fault);
        await meetAtCalls(fault);
        expect([name, await findDifferences(database(), control())]).toEqual([name, []]);
      }
      promise('R78', {
        figure: `${NAMES.length} faults at the token, a registration, a start and a read by the path ${sessionPath}: 0 differences from the ledger`,
        bound: '0',
      });
    },
  );

  itAtLength('turns red when a POST is sent again after a lost response', async () => {
    await start((app) => {
      const remote = app.get(Remote);
      const send = remote.send.bind(remote);
      jest.spyOn(remote, 'send').mockImplementation(async (request) => {
        const sent = await send(request);
        return sent.kind === 'ambiguous' && request.method === 'POST' ? send(request) : sent;
      });
    });
    const fault = REMOTE_FAULTS['reset after the effect']!;
    const reference = `faulty ${randomUUID()}`;
    await addFault(fault, 'register_user', reference, 1);
    await register(reference);
    expect(await findDifferences(database(), control())).toContain(`${reference}: 2 effects`);
  });
});
