import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { TRIALS } from '../../../src/remote/pace/breaker.rules.js';
import { Remote } from '../../../src/remote/remote.service.js';
import { TestClient } from '../../setup/client.js';
import { startSandbox, type TestSandbox } from '../../setup/sandbox/sandbox.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';
import { contradictions, readRegistrations } from '../support/evidence/registration-ledger.js';
import { isLong, itAtLength, promise } from '../support/promise.js';

const EAN = '376104250021234569';
const REFERENCES = Array.from({ length: 60 }, (_, index) => `customer-${index}`);
/** The maximum number of calls in flight when the breaker opens. The first five failures open it. */
const MAY_BE_LOST = 10;
/** The number of base probes that fail during the outage: one within a second, five within a minute. */
const PROBES = isLong ? 5 : 1;

let sandbox: TestSandbox;
let service: TestApp;

beforeEach(async () => {
  sandbox = await startSandbox();
});
afterEach(async () => {
  jest.restoreAllMocks();
  await service.close();
  await sandbox.stop();
});

const start = async (prepare?: (remote: Remote) => void) => {
  service = await startTestApp(
    { ...sandbox.environment, LOG_LEVEL: 'error' },
    { prepare: (app) => prepare?.(app.get(Remote)) },
  );
  const api = TestClient.of(service);
  const register = (tenantReference: string) =>
    api.call('POST', '/users', { tenantReference, gridLocations: [{ ean: EAN }] });
  // Obtains the token, which stays valid during the outage.
  expect((await register('before the outage')).status).toBe(201);
  return { api, register };
};
const received = async (operation: 'register_user' | 'probe'): Promise<number> =>
  (await sandbox.control.requests()).filter((request) => request.operation === operation).length;
const rows = () => readRegistrations(service.database);
/** Waits until no registration is pending. Expects few that are uncertain, and that the others are registered, each once. */
const settle = async (mayBeLost = MAY_BE_LOST) => {
  await waitFor('none is pending', async () => (await rows()).every(({ status }) => status !== 'pending'));
  const registrations = await rows();
  const uncertain = registrations.filter(({ status }) => status === 'uncertain').length;
  const found = contradictions(REFERENCES, await sandbox.control.ledger(), registrations);
  promise('R72', {
    figure: `${uncertain} of ${REFERENCES.length} uncertain, ${found.length} contradictions to the ledger`,
    bound: `≤ ${mayBeLost}, 0`,
  });
  expect(uncertain).toBeLessThanOrEqual(mayBeLost);
  expect(registrations.filter(({ status }) => status === 'registered')).toHaveLength(
    registrations.length - uncertain,
  );
  expect(found).toEqual([]);
};
/** Registers all while each response to a registration is in another form, although the registration takes effect. */
const registerInAnotherForm = async (register: (tenantReference: string) => Promise<unknown>) => {
  const fault = { kind: 'answer', effect: true, status: 201, body: '{"data":{}}' } as const;
  await sandbox.control.addFault({ ...fault, operation: 'register_user', times: null });
  await Promise.all(REFERENCES.map(register));
  await sandbox.control.clearFaults();
};
const breakDown = () =>
  sandbox.control.addFault({ kind: 'answer', status: 503, operation: 'any', times: null });

describe('R72: an outage makes few registrations uncertain', () => {
  it('no more than those that showed it; the others wait, and are sent once after it', async () => {
    const { api, register } = await start();
    await breakDown();
    const responses = await Promise.all(REFERENCES.map(register));
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([202]));
    const lost = await received('register_user');
    await waitFor('the base probes', async () => (await received('probe')) >= PROBES);
    expect(await received('register_user')).toBe(lost);
    const late = await api.call('POST', '/users', {
      tenantReference: 'during the outage',
      gridLocations: [{ ean: EAN }],
    });
    expect(late).toMatchObject({ status: 202, body: { status: 'pending' } });
    await sandbox.control.clearFaults();

    await settle();
  });

  it('nor do responses in another form than the documented one, after which nobody knows the id', async () => {
    jest.replaceProperty(TRIALS, 'register_user', { ...TRIALS.register_user!, firstMs: 500 });
    const { register } = await start();
    await registerInAnotherForm(register);
    // Eight are in flight, and one more follows each of the four failures before the breaker opens, and each base probe, which is served.
    await settle(8 + 4 + (await received('probe')));
  });

  it('but users without an EAN that was sent show no outage, so the next customer is registered', async () => {
    const { register } = await start();
    for (const tenantReference of REFERENCES.slice(0, 6)) {
      const body = JSON.stringify({ id: randomUUID(), tenantReference, gridLocations: [] });
      await sandbox.control.addFault({ kind: 'answer', status: 201, body, operation: 'register_user' });
      expect((await register(tenantReference)).body).toMatchObject({ status: 'uncertain' });
    }
    expect((await register('after them')).status).toBe(201);
  });

  itAtLength('is red if a registration is the probe', async () => {
    const { register } = await start((remote) => {
      type Gate = (typeof remote)['gates']['register_user'];
      jest
        .spyOn(remote as unknown as { check: Remote['check'] }, 'check')
        .mockImplementation((_request, _priority, gate: Gate) => {
          gate.checkPassed();
          return Promise.resolve(undefined);
        });
    });
    await breakDown();
    await Promise.all(REFERENCES.map(register));
    const lost = await received('register_user');
    await waitFor('a further registration is lost', async () => (await received('register_user')) > lost);
  });

  itAtLength('turns red if a response in another form counts as a success', async () => {
    const { register } = await start((remote) => {
      const { send } = remote;
      jest
        .spyOn(remote, 'send')
        .mockImplementation((request, ...rest) =>
          send.call(remote, { ...request, faultOf: undefined }, ...rest),
        );
    });
    await registerInAnotherForm(register);
    expect((await rows()).filter(({ status }) => status === 'uncertain')).toHaveLength(REFERENCES.length);
  });
});
