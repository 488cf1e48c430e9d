import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readEnvironment, STAND_INS } from '../../../src/platform/env/read-environment.js';
import type { Causes } from '../../../src/stalls/cause.rules.js';
import { StallKinds } from '../../../src/stalls/stall-kinds.js';
import { StallTask } from '../../../src/stalls/stall-task.service.js';
import type { StalledView } from '../../../src/stalls/stalled.view.js';
import type { StalledItemView } from '../../../src/stalled/stalled-items.view.js';
import { declaredKinds } from '../../../bench/seed/seed.js';
import { withReplica } from '../../e2e/replica.js';
import { TestClient } from '../../setup/client.js';
import { startWebhookReceiver, type WebhookReceiver } from '../../setup/receivers/webhook-receiver.js';
import { SandboxControl } from '../../setup/sandbox/sandbox-control.js';
import { troublesOf } from '../../setup/stall-troubles.js';
import { useTestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';
import { promise } from '../support/promise.js';

const causesOf = ({ all }: StallKinds): Record<string, Causes> =>
  Object.fromEntries(all.map(({ kind, causes }) => [kind, causes]));
const CATALOGUE = causesOf(declaredKinds(readEnvironment(STAND_INS)));
const REMEDIES = Object.entries(CATALOGUE).flatMap(([kind, causes]) =>
  Object.entries(causes).flatMap(([cause, { remedies }]) =>
    remedies.map(({ operationId }) => [kind, cause, operationId] as const),
  ),
);

/** Why a remedy does not end a stall by itself. */
const ENDS_LATER: Readonly<Record<string, string>> = {
  'session flapping refreshSession': 'it ends once the responses have been steady for an hour',
  'invitation never_opened remindOwner': 'it ends once the owner opens the link',
  'invitation never_opened readInvitationLink': 'it ends once the owner opens the link',
  'invitation opened_not_started remindOwner': 'it ends once the owner begins',
  'invitation opened_not_started readInvitationLink': 'it ends once the owner begins',
  'invitation started_not_completed remindOwner': 'it ends once the owner finishes the web flow',
  'invitation expiring_soon remindOwner': 'it ends once the owner begins',
  'invitation unreachable readInvitationLink':
    'it ends once a message that reached the owner is recorded, or the owner opens the link',
  'endpoint gone testWebhookEndpoint':
    'it shows whether the receiver is repaired; enabling the endpoint ends it',
  'endpoint disabled_after_failures testWebhookEndpoint':
    'it shows whether the receiver is repaired; enabling the endpoint ends it',
};

// Starts no worker, so that only the remedies end a stall.
const service = useTestApp({ ROLE: 'api' });
const client = TestClient.of(service);
const { troubles, set } = troublesOf(service, client);
let receiver: WebhookReceiver;
let control: SandboxControl;
const ended: string[] = [];
const DAY_MS = 86_400_000;

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  control = service.sandbox!.control;
});
afterAll(() => receiver.close());

const query = <Row>(text: string, values: readonly unknown[]) => service.database.query<Row>(text, values);
const stallOf = async (id: string) => {
  await service.app.get(StallTask).run();
  const items = await client.list<StalledItemView>('/stalled?limit=200');
  return items.find((each) => each.id === id);
};

/** Does what the remedies assume: the text before them says so. */
const PREPARE: Readonly<Record<string, (id: string) => Promise<unknown>>> = {
  'session completed_not_online': (id) => control.online(id),
  'session all_inverters_missing': (id) => listAgain(id),
  'session some_inverters_missing': (id) => listAgain(id),
  'endpoint gone': (id) => repair(id),
  'endpoint disabled_after_failures': (id) => repair(id),
  'endpoint failing': (id) => repair(id),
};
const repair = (id: string) => set('webhook_endpoints', `url = '${receiver.url}'`)(id);
async function listAgain(id: string) {
  const rows = await query<{ id: string }>('SELECT id FROM inverters WHERE session_id = $1', [id]);
  await control.online(id, { inverters: rows.map((row) => row.id) });
}

/** Returns the bodies that a person has to write. */
const BODIES: Readonly<Record<string, (id: string) => Promise<object> | object>> = {
  changeInvitation: () => ({ expiresAt: new Date(Date.now() + 90 * DAY_MS).toISOString() }),
  resolveRegistration: async (id) => {
    const [row] = await query<{ tenantReference: string; eans: string[] }>(
      'SELECT tenant_reference AS "tenantReference", eans FROM registrations WHERE id = $1',
      [id],
    );
    const { tenantReference, eans } = row!;
    return {
      id: randomUUID(),
      tenantReference,
      gridLocations: eans.map((ean) => ({ id: randomUUID(), ean })),
    };
  },
};
/** What ends a stall after a remedy that only makes work due. */
const AFTER: Readonly<Record<string, (id: string) => Promise<unknown>>> = {
  'registration pending_too_long retryRegistration': (id) =>
    withReplica(service, { ROLE: 'worker' }, () =>
      waitFor('the worker to send it', async () => {
        const [row] = await query(`SELECT FROM registrations WHERE id = $1 AND status = 'registered'`, [id]);
        return row;
      }),
    ),
};

describe('R84: a remedy ends the stall', () => {
  it('is in the catalogue of this service', () => {
    expect(causesOf(service.app.get(StallKinds))).toEqual(CATALOGUE);
  });

  it.each(REMEDIES)('%s %s: %s', async (kind, cause, operationId) => {
    const name = `${kind} ${cause} ${operationId}`;
    const id = await troubles[`${kind} ${cause}`]!.make();
    const stall = (await stallOf(id))!;
    expect(stall).toMatchObject({ kind, cause });
    const { method, path, body } = stall.remedies.find((each) => each.operationId === operationId)!;
    await PREPARE[`${kind} ${cause}`]?.(id);
    const input = (await BODIES[operationId]?.(id)) ?? body ?? undefined;
    const answer = await client.call<{ stalled?: StalledView | null } | null>(
      method,
      path.replace(/^\/api\/v1/, ''),
      input,
    );
    expect([200, 201, 202, 204]).toContain(answer.status);
    const after = AFTER[name];
    await after?.(id);
    const left = await stallOf(id);
    // The response is of the time after the remedy, so it has no stall that the remedy has ended.
    const shown = answer.body?.stalled;
    if (shown !== undefined && after === undefined) expect(shown?.cause).toBe(left?.cause);
    // Another cause may hold after it.
    const isLeft = left?.cause === cause;
    expect(isLeft).toBe(name in ENDS_LATER);
    if (!isLeft) ended.push(name);
  });

  it('or a table says why not', () => {
    const later = Object.keys(ENDS_LATER).length;
    promise('R84', {
      figure: `${ended.length} of ${REMEDIES.length} remedies end the stall, ${later} say why not`,
      bound: `${REMEDIES.length - later} and ${later}`,
    });
    expect(ended.length + later).toBe(REMEDIES.length);
  });
});
