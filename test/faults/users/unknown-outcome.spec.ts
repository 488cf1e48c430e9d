import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Environment } from '../../../src/platform/env/environment.js';
import type { RemoteRequest, Sent } from '../../../src/remote/outcome.rules.js';
import { Remote } from '../../../src/remote/remote.service.js';
import { TestClient } from '../../setup/client.js';
import type { SandboxFault } from '../../setup/sandbox/sandbox-control.js';
import { useSandbox } from '../../setup/sandbox/sandbox-client.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';
import { isLong, itAtLength, promise } from '../support/promise.js';
import { contradictions, readRegistrations } from '../support/evidence/registration-ledger.js';

/** Long enough for an immediate response on a busy machine. */
const TIMEOUT_MS = 5_000;
const ROUNDS = isLong ? 20 : 2;
const AT_ONCE = 30;
const EAN = '376104250021234569';

/** Each fault, the final status of the registration, and the number of users that the remote service creates. */
const FAULTS: Record<
  string,
  { readonly fault: SandboxFault; readonly status: string; readonly effects: number }
> = {
  'reset before the effect': { fault: { kind: 'reset' }, status: 'uncertain', effects: 0 },
  'reset after the effect': { fault: { kind: 'reset', effect: true }, status: 'uncertain', effects: 1 },
  'truncated 200': { fault: { kind: 'truncate' }, status: 'uncertain', effects: 1 },
  'dripping 200': { fault: { kind: 'drip', intervalMs: 200 }, status: 'uncertain', effects: 1 },
  'dripping headers': {
    fault: { kind: 'drip', from: 'headers', intervalMs: 200 },
    status: 'uncertain',
    effects: 1,
  },
  'stall before the effect': { fault: { kind: 'stall' }, status: 'uncertain', effects: 0 },
  'stall after the effect': { fault: { kind: 'stall', effect: true }, status: 'uncertain', effects: 1 },
  'stall in the body': {
    fault: { kind: 'stall', effect: true, after: 'half' },
    status: 'uncertain',
    effects: 1,
  },
  '500 after the effect': {
    fault: { kind: 'answer', status: 500, effect: true },
    status: 'uncertain',
    effects: 1,
  },
  '503 before the effect': { fault: { kind: 'answer', status: 503 }, status: 'uncertain', effects: 0 },
  '408 after the effect': {
    fault: { kind: 'answer', status: 408, effect: true },
    status: 'uncertain',
    effects: 1,
  },
  '499 after the effect': {
    fault: { kind: 'answer', status: 499, effect: true },
    status: 'uncertain',
    effects: 1,
  },
  '302 after the effect': { fault: { kind: 'redirect', effect: true }, status: 'uncertain', effects: 1 },
  'HTML 200 after the effect': { fault: { kind: 'html', effect: true }, status: 'uncertain', effects: 1 },
  'empty object after the effect': {
    fault: { kind: 'answer', body: '{}', effect: true },
    status: 'uncertain',
    effects: 1,
  },
  '422 without an effect': { fault: { kind: 'answer', status: 422 }, status: 'rejected', effects: 0 },
  '429 without an effect': { fault: { kind: 'too_many_requests' }, status: 'registered', effects: 1 },
};

const sandbox = useSandbox();
let service: TestApp | undefined;

afterEach(async () => {
  await service?.close();
  await sandbox.control.reset();
});

/** Starts a service that uses a new Remote for each remote call: a shared circuit breaker would open and prevent most faults. */
async function start(send: (request: RemoteRequest, sendOnce: Remote['send']) => Promise<Sent>) {
  service = await startTestApp(
    { ...sandbox.environment, SCS_TIMEOUT_MS: TIMEOUT_MS, LOG_LEVEL: 'error' },
    {
      prepare: (app) => {
        const sendOnce = async (request: RemoteRequest): Promise<Sent> => {
          const remote = new Remote(app.get(Environment));
          try {
            return await remote.send(request);
          } finally {
            await remote.onApplicationShutdown();
          }
        };
        jest.spyOn(app.get(Remote), 'send').mockImplementation((request) => send(request, sendOnce));
      },
    },
  );
  return service;
}

/** Registers one user per fault and round. Returns the tenant references by fault. */
async function meetFaults(app: TestApp, rounds: number): Promise<Map<string, string[]>> {
  const references = new Map(Object.keys(FAULTS).map((name) => [name, [] as string[]]));
  const waiting: string[] = [];
  for (let round = 0; round < rounds; round++) {
    for (const [name, { fault }] of Object.entries(FAULTS)) {
      const reference = `${name} ${round}.`;
      await sandbox.control.addFault({ ...fault, operation: 'register_user', contains: `"${reference}"` });
      references.get(name)!.push(reference);
      // One is served between two faults, because five refusals in a row would be those of a firewall.
      waiting.push(reference, `served after ${reference}`);
    }
  }
  const api = TestClient.of(app);
  const register = (tenantReference: string) =>
    api.call('POST', '/users', { tenantReference, gridLocations: [{ ean: EAN }] });
  const client = async (): Promise<void> => {
    for (let reference = waiting.pop(); reference !== undefined; reference = waiting.pop()) {
      const { status } = await register(reference);
      // A caller retries once if the registration is still open.
      if (status === 202) await register(reference);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, client));
  return references;
}

const statusesOf = async (app: TestApp, references: readonly string[]): Promise<Map<string, number>> => {
  const counts = new Map<string, number>();
  for (const { tenantReference, status } of await readRegistrations(app.database)) {
    if (references.includes(tenantReference)) counts.set(status, (counts.get(status) ?? 0) + 1);
  }
  return counts;
};

describe('R15: an unknown outcome is never a duplicate', () => {
  it(`through ${Object.keys(FAULTS).length} faults around the call, ${ROUNDS} times each`, async () => {
    const app = await start((request, sendOnce) => sendOnce(request));
    const references = await meetFaults(app, ROUNDS);
    await waitFor('no registration is pending', async () => {
      const rows = await readRegistrations(app.database);
      return rows.every(({ status }) => status !== 'pending');
    });

    const ledger = await sandbox.control.ledger();
    const rows = await readRegistrations(app.database);
    const found = contradictions([...references.values()].flat(), ledger, rows);
    promise('R15', {
      figure: `${found.length} contradictions to the ledger, ${Object.keys(FAULTS).length} faults × ${ROUNDS}`,
      bound: '0',
    });
    expect(found).toEqual([]);
    expect((await sandbox.control.faults()).filter(({ used }) => used !== 1)).toEqual([]);
    for (const [name, own] of references) {
      const { status, effects } = FAULTS[name] ?? {};
      const happened = ledger.users.filter(({ tenantReference }) => own.includes(tenantReference)).length;
      expect({ name, statuses: Object.fromEntries(await statusesOf(app, own)), happened }).toEqual({
        name,
        statuses: { [String(status)]: ROUNDS },
        happened: ROUNDS * (effects ?? 0),
      });
    }
  });

  itAtLength('is red if a network error is retried', async () => {
    const app = await start(async (request, sendOnce) => {
      const sent = await sendOnce(request);
      return sent.kind === 'ambiguous' ? sendOnce(request) : sent;
    });
    const references = await meetFaults(app, 1);
    const rows = await readRegistrations(app.database);
    const found = contradictions([...references.values()].flat(), await sandbox.control.ledger(), rows);
    expect(found).toContain('reset after the effect 0.: 2 effects');
  });
});
