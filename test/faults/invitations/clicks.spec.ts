import { afterEach, describe, expect, it } from '@jest/globals';
import { waitFor } from '../../setup/wait-for.js';
import { startWithoutIntent } from '../support/evidence/lost-starts.js';
import { isLong, itAtLength, promise } from '../support/promise.js';
import { startReplicas, type ReplicaOptions, type Replicas } from '../support/replicas.js';

const CLICKS = isLong ? 50 : 20;
const REPLICAS = 3;
/** Long enough for every click to arrive before the first response. */
const LATENCY_MS = 300;

let replicas: Replicas;
afterEach(() => replicas.close());

/** Clicks at once at all replicas, with every third click repeated, as by a person whose first response is lost. */
async function click(prepare?: ReplicaOptions['prepare']) {
  replicas = await startReplicas({
    count: REPLICAS,
    environment: { ROLE: 'all' },
    ...(prepare && { prepare }),
  });
  const [client] = replicas.clients;
  const { body } = await client!.call<{ id: string; url: string }>('POST', '/invitations', {
    gridLocationId: await client!.locate(),
  });
  const path = new URL(body.url).pathname;
  await replicas.sandbox.control.change({ latencyMs: LATENCY_MS });
  const press = (replica: number, signal?: AbortSignal) =>
    fetch(`${replicas.clients[replica]!.url}${path}`, { method: 'POST', redirect: 'manual', signal });
  const targets = await Promise.all(
    Array.from({ length: CLICKS }, async (_, index) => {
      if (index % 3 === 0) await press(index % REPLICAS, AbortSignal.timeout(LATENCY_MS / 2)).catch(() => {});
      // A busy service shows a page in place of the redirect, and the person clicks again.
      return waitFor('the click to lead on', async () => {
        const location = (await press(index % REPLICAS)).headers.get('location') ?? '';
        return location.startsWith('http') && location;
      });
    }),
  );
  return {
    sessions: (await replicas.sandbox.control.ledger()).sessions.length,
    targets: [...new Set(targets)],
  };
}

describe('R46: clicks of an owner are one session', () => {
  it('for clicks at once on three replicas, some of which are given up and repeated', async () => {
    const clicked = await click();
    promise('R46', {
      figure: `${clicked.sessions} session, ${clicked.targets.length} address for ${CLICKS} clicks on ${REPLICAS} replicas`,
      bound: '1, 1',
    });
    expect(clicked).toEqual({ sessions: 1, targets: [expect.stringContaining('/pv-onboarding/')] });
  });

  itAtLength('turns red when no intent exists while a start is sent', async () => {
    expect((await click(startWithoutIntent)).sessions).toBeGreaterThan(1);
  });
});
