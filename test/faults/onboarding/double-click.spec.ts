import { afterEach, describe, expect, it } from '@jest/globals';
import { startWithoutIntent } from '../support/evidence/lost-starts.js';
import { isLong, itAtLength, promise } from '../support/promise.js';
import { startReplicas, type ReplicaOptions, type Replicas } from '../support/replicas.js';

const CLICKS = isLong ? 50 : 20;
/** Long enough for every click to arrive before the first response. */
const LATENCY_MS = 200;

let replicas: Replicas;
afterEach(() => replicas.close());

/** Clicks at a new location. */
async function click(prepare?: ReplicaOptions['prepare']) {
  replicas = await startReplicas({ count: 2, environment: { ROLE: 'api' }, ...(prepare && { prepare }) });
  const { control } = replicas.sandbox;
  const [client] = replicas.clients;
  const gridLocationId = await client!.locate();
  await control.change({ latencyMs: LATENCY_MS });
  const responses = await Promise.all(
    Array.from({ length: CLICKS }, (_, click) =>
      replicas.clients[click % 2]!.start(gridLocationId, { brand: 'acme' }),
    ),
  );
  return {
    effects: (await control.ledger()).sessions.length,
    started: responses.filter(({ status }) => status === 201).length,
    reused: responses.filter(({ status }) => status === 200).length,
    sessions: new Set(responses.map(({ body }) => JSON.stringify([body.id, body.startUrl]))).size,
  };
}

describe('R18: double clicks are one', () => {
  it('starts one session for parallel starts of one location, and returns it to all', async () => {
    const clicked = await click();
    promise('R18', {
      figure: `${clicked.effects} session, ${clicked.sessions} response for ${CLICKS} parallel starts`,
      bound: '1, 1',
    });
    expect(clicked).toEqual({ effects: 1, started: 1, reused: CLICKS - 1, sessions: 1 });
  });

  itAtLength('turns red when no intent exists while a start is sent', async () => {
    expect((await click(startWithoutIntent)).effects).toBeGreaterThan(1);
  });
});
