import { afterEach, describe, expect, it } from '@jest/globals';
import { Database } from '../../../src/platform/database/database.js';
import { TestClient, type Answer, type SessionAnswer } from '../../setup/client.js';
import type { SandboxFault } from '../../setup/sandbox/sandbox-control.js';
import { countStarts, startAtLast, startWithoutIntent } from '../support/evidence/lost-starts.js';
import { isLong, itAtLength, promise } from '../support/promise.js';
import { repeat, startReplicas, type ReplicaOptions, type Replicas } from '../support/replicas.js';

const STARTS = isLong ? 30 : 6;
/** Faults that lose the response after the session has started. */
const LOST_RESPONSES: readonly SandboxFault[] = [
  { kind: 'reset', effect: true },
  { kind: 'truncate' },
  { kind: 'stall', effect: true },
  { kind: 'stall', effect: true, after: 'half' },
  { kind: 'answer', effect: true, status: 500, body: '{"error":"too late"}' },
  { kind: 'html', effect: true },
];
const TIMEOUT_MS = 4_000;

let replicas: Replicas;
afterEach(() => replicas.close());

async function startReplica(prepare?: ReplicaOptions['prepare']): Promise<TestClient> {
  const environment = { ROLE: 'api', SCS_TIMEOUT_MS: TIMEOUT_MS } as const;
  replicas = await startReplicas({ count: 1, environment, ...(prepare && { prepare }) });
  return replicas.clients[0]!;
}

const locate = (client: TestClient, count: number): Promise<string[]> => repeat(count, () => client.locate());

const database = (): Database => replicas.apps[0]!.database;

/**
 * Compares the starts with the ledger of the remote service. `uncounted`: the number of lost sessions that are not recorded as orphans, or
 * the reverse.
 */
async function judge(responses: readonly Answer<SessionAnswer>[], gridLocationIds: readonly string[]) {
  const starts = await countStarts(database(), await replicas.sandbox.control.ledger(), gridLocationIds);
  return {
    withStartUrl: responses.filter(({ body }) => body.startUrl !== null).length,
    mostSessionsOfOne: Math.max(...starts.map(({ effects }) => effects)),
    lost: starts.reduce((sum, { effects }) => sum + effects - 1, 0),
    uncounted: starts.reduce((sum, { effects, orphans }) => sum + Math.abs(effects - 1 - orphans), 0),
  };
}

const BOUND = 'all, 2, 0';
const figureOf = (
  { withStartUrl, mostSessionsOfOne, uncounted }: Awaited<ReturnType<typeof judge>>,
  starts: number,
  what: string,
): string =>
  `${withStartUrl} of ${starts} ${what} end with a startUrl, ${mostSessionsOfOne} sessions each at most, ${uncounted} orphans not counted`;

async function startWithLostResponses(client: TestClient, count: number) {
  const gridLocationIds = await locate(client, count);
  for (const [index, contains] of gridLocationIds.entries()) {
    const fault = LOST_RESPONSES[index % LOST_RESPONSES.length]!;
    await replicas.sandbox.control.addFault({ operation: 'start_session', contains, times: 1, ...fault });
  }
  const responses: Answer<SessionAnswer>[] = [];
  // Starts in groups, because more lost responses in a row would open the circuit breaker.
  for (let at = 0; at < count; at += LOST_RESPONSES.length) {
    const group = gridLocationIds.slice(at, at + LOST_RESPONSES.length);
    responses.push(...(await Promise.all(group.map((id) => startAtLast(client, id)))));
  }
  return judge(responses, gridLocationIds);
}

describe('R17: a lost start is recovered', () => {
  it('when the response is lost', async () => {
    const judged = await startWithLostResponses(await startReplica(), STARTS);
    promise('R17', { figure: figureOf(judged, STARTS, 'lost responses'), bound: BOUND });
    expect(judged).toEqual({ withStartUrl: STARTS, mostSessionsOfOne: 2, lost: STARTS, uncounted: 0 });
  });

  itAtLength('turns red when no intent exists while a start is sent', async () => {
    const client = await startReplica(startWithoutIntent);
    expect((await startWithLostResponses(client, LOST_RESPONSES.length)).uncounted).toBe(
      LOST_RESPONSES.length,
    );
  });
});
