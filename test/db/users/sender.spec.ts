import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { AuthorisedRemote } from '../../../src/auth/authorised-remote.service.js';
import { Database } from '../../../src/platform/database/database.js';
import { Metrics } from '../../../src/observability/metrics/metrics.js';
import { ContractDrift } from '../../../src/remote/drift/contract-drift.service.js';
import { DeploymentStore } from '../../../src/remote/shared/deployment.store.js';
import type { RemoteRequest, Sent } from '../../../src/remote/outcome.rules.js';
import type { Remote } from '../../../src/remote/remote.service.js';
import { RegistrationSender } from '../../../src/users/registration/sender.service.js';
import { LEASE_MS, RegistrationsStore } from '../../../src/users/registration/registrations.store.js';
import type { Claim } from '../../../src/users/registration/registration.rules.js';
import { useTestDatabase } from '../../setup/test-database.js';
import { environmentFor } from '../../setup/test-environment.js';
import { waitFor } from '../../setup/wait-for.js';

const EAN = '376104250021234569';

const testDatabase = useTestDatabase();
let database: Database;
let store: RegistrationsStore;

beforeAll(() => {
  database = testDatabase.open();
  store = new RegistrationsStore(database);
});
afterEach(() => {
  jest.restoreAllMocks();
});

async function claimed(): Promise<Claim> {
  const claim = await store.openIntent({ tenantReference: randomUUID(), eans: [EAN], metadata: {} });
  if (claim === null) throw new Error('the reference is taken');
  return claim;
}

const senderWith = (sent: (request: RemoteRequest) => Sent | Promise<Sent>): RegistrationSender => {
  const remote: Pick<AuthorisedRemote, 'send' | 'weighOutcome'> = {
    send: async (request) => sent(request),
    weighOutcome: (_, outcome) => outcome,
  };
  const noteFault = () => {};
  const drift = new ContractDrift(new DeploymentStore(database), { noteFault } as Partial<Remote> as Remote);
  const environment = environmentFor(testDatabase.url);
  return new RegistrationSender(store, remote as AuthorisedRemote, drift, environment, new Metrics());
};

const confirmation = (claim: Claim): Sent => ({
  kind: 'response',
  response: {
    status: 200,
    body: `{"id":"${randomUUID()}","tenantReference":"${claim.tenantReference}","gridLocations":[{"id":"${randomUUID()}","ean":${EAN}}]}`,
  },
});

const lostConnection = () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

describe('the response to a call', () => {
  it('is held until the database can store it', async () => {
    const claim = await claimed();
    const transaction = jest.spyOn(database, 'transaction');
    for (let failure = 0; failure < 3; failure++) transaction.mockRejectedValueOnce(lostConnection());
    await senderWith(() => confirmation(claim)).send(claim, 'foreground');
    expect(await store.findRegistration(claim.id)).toMatchObject({ status: 'registered' });
  });

  it('is stored once when the connection is lost after the commit', async () => {
    const claim = await claimed();
    const transaction = database.transaction.bind(database);
    jest.spyOn(database, 'transaction').mockImplementationOnce(async (work) => {
      await transaction(work);
      throw lostConnection();
    });
    await senderWith(() => confirmation(claim)).send(claim, 'foreground');
    expect(await store.findRegistration(claim.id)).toMatchObject({ status: 'registered' });
    const events = await database.query(`SELECT 1 FROM domain_events WHERE data ->> 'tenantReference' = $1`, [
      claim.tenantReference,
    ]);
    expect(events).toHaveLength(1);
  });
});

describe('a call', () => {
  it('is made without an open transaction, and renews its lease until it ends', async () => {
    const claim = await claimed();
    const observed = async () => {
      const [row] = await database.query<{ renewed: boolean; open: number }>(
        `SELECT lease_until > sent_at + $2 * interval '1 ms' + interval '2 s' AS renewed,
           (SELECT count(*)::int FROM pg_stat_activity
            WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()
              AND xact_start IS NOT NULL) AS open
         FROM registrations WHERE id = $1`,
        [claim.id, LEASE_MS],
      );
      return row;
    };
    const sender = senderWith(async () => {
      await waitFor('the lease is renewed', async () => (await observed())?.renewed);
      await waitFor('no transaction is open', async () => (await observed())?.open === 0);
      return confirmation(claim);
    });
    expect(await sender.send(claim, 'foreground')).toMatchObject({ status: 'registered' });
  });
});
