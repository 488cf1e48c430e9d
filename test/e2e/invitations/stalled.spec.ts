import { describe, expect, it } from '@jest/globals';
import { INVITATION_STALL_CAUSES } from '../../../src/invitations/stalled.rules.js';
import { Database } from '../../../src/platform/database/database.js';
import { TestClient } from '../../setup/client.js';
import { useTestApp } from '../../setup/test-app.js';

const service = useTestApp({ STALLED_INVITATION_HOURS: 48 });
const client = TestClient.of(service);

interface Invitation {
  readonly id: string;
  readonly url: string;
  readonly stalled: { readonly cause: string } | null;
}

/** Invites an owner `hoursAgo`, for `validHours`. */
async function invite(hoursAgo: number, validHours = 90 * 24): Promise<Invitation> {
  const { body } = await client.call<Invitation>('POST', '/invitations', {
    gridLocationId: await client.locate(),
  });
  await service.app.get(Database).query(
    `UPDATE invitations SET created_at = now() - $2 * interval '1 hour',
            expires_at = now() + ($3::float8 - $2) * interval '1 hour' WHERE id = $1`,
    [body.id, hoursAgo, validHours],
  );
  return body;
}
const openBefore = (id: string, hours: number) =>
  service.app
    .get(Database)
    .query(`UPDATE invitations SET opened_at = now() - $2 * interval '1 hour' WHERE id = $1`, [id, hours]);
const list = async (query = '') =>
  (await client.call<{ items: Invitation[] }>('GET', `/invitations${query}`)).body.items;

describe('a stalled invitation', () => {
  it('shows its cause, and is listed by it', async () => {
    const unopened = await invite(49);
    const young = await invite(47);
    const unused = await invite(200);
    await openBefore(unused.id, 49);
    const seen = await invite(200);
    await openBefore(seen.id, 47);
    const ending = await invite(19, 20);
    const begun = await invite(200);
    await fetch(begun.url, { method: 'POST', redirect: 'manual' });
    const revoked = await invite(49);
    await client.call('DELETE', `/invitations/${revoked.id}`);

    const causes = new Map((await list()).map(({ id, stalled }) => [id, stalled?.cause]));
    expect([unopened, young, unused, seen, ending, begun, revoked].map(({ id }) => causes.get(id))).toEqual([
      'never_opened',
      undefined,
      'opened_not_started',
      undefined,
      'expiring_soon',
      undefined,
      undefined,
    ]);
    for (const cause of INVITATION_STALL_CAUSES) {
      const ids = [...causes].filter(([, shown]) => shown === cause).map(([id]) => id);
      expect((await list(`?stalled=${cause}`)).map(({ id }) => id)).toEqual(ids);
    }
    expect((await list('?stalled=any')).map(({ id }) => id).sort()).toEqual(
      [unopened, unused, ending].map(({ id }) => id).sort(),
    );
    const { body } = await client.call('GET', `/invitations/${unopened.id}`);
    expect(body.stalled).toMatchObject({ cause: 'never_opened', evidence: { thresholdSeconds: 172_800 } });
  });
});
