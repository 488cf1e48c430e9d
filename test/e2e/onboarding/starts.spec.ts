import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { EventPayloads } from '../../../src/events/catalogue.rules.js';
import type { StartView } from '../../../src/onboarding/api/starts.view.js';
import { AuthorisedRemote } from '../../../src/auth/authorised-remote.service.js';
import type { Sent } from '../../../src/remote/outcome.rules.js';
import { TestClient } from '../../setup/client.js';
import type { SandboxControl, SandboxFault } from '../../setup/sandbox-control.js';
import { useTestApp } from '../../setup/test-app.js';

const service = useTestApp();
const client = TestClient.of(service);
let sandbox: SandboxControl;

beforeAll(() => {
  sandbox = service.sandbox!.control;
});
afterEach(() => sandbox.clearFaults());

type Listed = Omit<StartView, 'createdAt' | 'updatedAt'> & Record<'createdAt' | 'updatedAt', string>;

const list = async (query: string) =>
  (await client.call<{ items: Listed[]; next: string | null }>('GET', `/onboarding/starts?${query}`)).body;

const failuresOf = async (gridLocationId: string) =>
  (await client.events())
    .filter(({ type, subject }) => type === 'pv.session.start_failed.v1' && subject === gridLocationId)
    .map(({ data }) => data as EventPayloads['session.start_failed']);

/** Makes the remote service respond with this fault to the starts of a location. */
const respond = (contains: string, fault: Omit<SandboxFault, 'operation'>): Promise<unknown> =>
  sandbox.addFault({ operation: 'start_session', contains, ...fault });

describe('a start that has failed', () => {
  // A call that succeeds, so that the failures of these tests do not open the circuit breaker.
  beforeEach(() => client.startNew());

  it.each([
    [
      'answer',
      { kind: 'answer', status: 503, body: 'Ann is ill' },
      /responded with status 503, which does/,
      2,
    ],
    ['reset', { kind: 'reset', effect: true }, /it was sent, but its response was lost \(/, 2],
    ['html', { kind: 'html' }, /^the response with status 200 could not be read \(/, 2],
  ] as const)(
    'by %s says what happened, in the 503, the list and the event',
    async (_, fault, words, orphans) => {
      const gridLocationId = await client.locate();
      await respond(gridLocationId, { ...fault, times: 2 });
      const { status, body } = await client.start(gridLocationId, { brand: 'acme' });
      const detail = (body as unknown as { detail: string }).detail;
      expect([status, detail]).toEqual([503, expect.stringMatching(/^The start has failed: /)]);
      const { items } = await list(`gridLocationId=${gridLocationId}`);
      expect(items).toMatchObject([
        { gridLocationId, brand: 'acme', status: 'failed', attempts: 2, orphans, sessionId: null },
      ]);
      const [{ id, error, userId, tenantReference }] = items as [Listed];
      expect(error).toMatch(words);
      expect(detail).toBe(`The start has failed: ${error}`);
      expect(await failuresOf(gridLocationId)).toEqual([
        {
          startId: id,
          userId,
          gridLocationId,
          tenantReference,
          brand: 'acme',
          attempts: 2,
          orphans,
          reason: error,
          failedAt: items[0]!.updatedAt,
        },
      ]);
    },
  );

  it('because it was not sent counts an orphan only for the call before', async () => {
    const remote = service.app.get(AuthorisedRemote);
    const send = remote.send.bind(remote);
    const notSent: Sent = { kind: 'not_sent', reason: 'breaker_open' };
    const outcomes: Sent[] = [notSent, { kind: 'ambiguous', reason: 'read ECONNRESET' }, notSent];
    try {
      const gridLocationId = await client.locate();
      remote.send = (request, ...others) =>
        request.operation === 'start_session' ? Promise.resolve(outcomes.shift()!) : send(request, ...others);
      expect((await client.start(gridLocationId)).status).toBe(503);
      expect((await client.start(gridLocationId)).status).toBe(503);
      const { items } = await list(`gridLocationId=${gridLocationId}`);
      expect(items).toMatchObject([
        { attempts: 2, orphans: 1, error: expect.stringMatching(/^it was not sent \(breaker_open\)/) },
        { attempts: 1, orphans: 0 },
      ]);
      expect((await failuresOf(gridLocationId)).map(({ orphans }) => orphans)).toEqual([0, 1]);
    } finally {
      remote.send = send;
    }
  });
});

describe('listing starts', () => {
  it('returns the newest first, filters and pages, without a startUrl', async () => {
    const gridLocationId = await client.locate('customer with five');
    for (const brand of ['a', 'b', 'c', 'd']) await client.start(gridLocationId, { brand });
    await respond(gridLocationId, { kind: 'answer', status: 422, body: 'no', times: 1 });
    await client.start(gridLocationId, { brand: 'e' });
    // Returns the open session, so it does not count as a start.
    const { body: session } = await client.start(gridLocationId, { brand: 'd' });
    const first = await list(`gridLocationId=${gridLocationId}&limit=3`);
    const second = await list(`gridLocationId=${gridLocationId}&limit=3&cursor=${first.next}`);
    expect([first, second].map(({ items }) => items.map(({ brand }) => brand))).toEqual([
      ['e', 'd', 'c'],
      ['b', 'a'],
    ]);
    expect(second.next).toBeNull();
    expect(first.items[1]).toEqual({
      id: expect.any(String),
      gridLocationId,
      userId: session.userId,
      tenantReference: 'customer with five',
      brand: 'd',
      status: 'started',
      error: null,
      attempts: 1,
      orphans: 0,
      sessionId: session.id,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    const failed = await list(`userId=${session.userId}&status=failed`);
    expect(failed.items.map(({ brand }) => brand)).toEqual(['e']);
    expect((await list(`userId=${session.userId}&status=sending`)).items).toEqual([]);
    expect((await list(`userId=${randomUUID()}`)).items).toEqual([]);
  });
});
