import { afterEach, describe, expect, it } from '@jest/globals';
import { closeAfterEach } from '../../setup/close-after-each.js';
import { TestClient } from '../../setup/client.js';
import { startSandbox } from '../../setup/sandbox/sandbox.js';
import { startServiceProcess } from '../../setup/processes/service-process.js';
import { createTestDatabase } from '../../setup/database/test-database.js';
import { ADMIN_KEY } from '../../setup/test-environment.js';
import { waitFor } from '../../setup/wait-for.js';
import { startWithoutIntent } from '../support/evidence/lost-starts.js';
import { isLong, itAtLength, promise } from '../support/promise.js';
import { startReplicas, type ReplicaOptions, type Replicas } from '../support/replicas.js';
import { waitUntilHeld } from '../support/waits.js';

const CLICKS = isLong ? 50 : 20;
const REPLICAS = 3;
/** Long enough for every click to arrive before the first response. */
const LATENCY_MS = 300;

const closing = closeAfterEach();
let replicas: Replicas | undefined;
afterEach(() => replicas?.close());

/**
 * Clicks, and returns the address to which the click leads. Returns undefined if the replica is dead or returns a page that tells the owner
 * to wait.
 */
const press = async (url: string, signal?: AbortSignal): Promise<string | undefined> => {
  const response = await fetch(url, { method: 'POST', redirect: 'manual', signal }).catch(() => null);
  const location = response?.headers.get('location');
  return location?.startsWith('http') ? location : undefined;
};

/** Clicks many times at once, at all replicas. Repeats every third click, like a person whose first response was lost. */
async function click(prepare?: ReplicaOptions['prepare']) {
  const started = await startReplicas({
    count: REPLICAS,
    environment: { ROLE: 'all' },
    ...(prepare && { prepare }),
  });
  replicas = started;
  const { clients, sandbox } = started;
  const path = await invite(clients[0]!);
  await sandbox.control.change({ latencyMs: LATENCY_MS });
  const targets = await Promise.all(
    Array.from({ length: CLICKS }, async (_, index) => {
      const url = `${clients[index % REPLICAS]!.url}${path}`;
      if (index % 3 === 0) await press(url, AbortSignal.timeout(LATENCY_MS / 2));
      // A busy service may return a page instead of the redirect. Then the person clicks again.
      return waitFor('the click to lead on', () => press(url));
    }),
  );
  return { sessions: (await sandbox.control.ledger()).sessions.length, targets: [...new Set(targets)] };
}

async function invite(client: TestClient): Promise<string> {
  const invited = { gridLocationId: await client.locate() };
  const { body } = await client.call<{ url: string }>('POST', '/invitations', invited);
  return new URL(body.url).pathname;
}

/** Kills the replica that has sent the start, before the response arrives, while other owners click at all replicas. */
async function clickAndKill() {
  const database = await createTestDatabase();
  const sandbox = await startSandbox();
  closing.push(() => database.drop(), sandbox.stop);
  const environment = { ...sandbox.environment, DATABASE_URL: database.url, SCS_TIMEOUT_MS: '2000' };
  const processes = await Promise.all(
    Array.from({ length: REPLICAS }, () => startServiceProcess(environment)),
  );
  closing.push(async () => void (await Promise.all(processes.map((replica) => replica.stop('SIGKILL')))));
  const [first, ...others] = processes;
  const path = await invite(new TestClient(first!.url, ADMIN_KEY));
  await sandbox.control.addFault({ kind: 'hold', operation: 'start_session', times: 1 });
  const clicks = [press(`${first!.url}${path}`)];
  await waitUntilHeld(sandbox.control, 1);
  for (let nth = 1; nth < CLICKS; nth++) clicks.push(press(`${processes[nth % REPLICAS]!.url}${path}`));
  await first!.stop('SIGKILL');
  await Promise.all(clicks);
  const targets = await Promise.all(
    clicks.map((_, nth) =>
      waitFor('the click to lead on', () => press(`${others[nth % others.length]!.url}${path}`)),
    ),
  );
  const items = await new TestClient(others[0]!.url, ADMIN_KEY).list<object>('/onboarding/pv');
  return { sessions: items.length, targets: [...new Set(targets)] };
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

  it('for clicks during which the replica that has sent the start is killed', async () => {
    const clicked = await clickAndKill();
    promise('R46', {
      figure: `${clicked.sessions} session, ${clicked.targets.length} address for ${CLICKS} clicks and a kill`,
      bound: '1, 1',
    });
    expect(clicked).toEqual({ sessions: 1, targets: [expect.stringContaining('/pv-onboarding/')] });
  });

  itAtLength('turns red when no intent exists while a start is sent', async () => {
    expect((await click(startWithoutIntent)).sessions).toBeGreaterThan(1);
  });
});
