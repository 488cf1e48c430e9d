import { beforeAll, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import * as sql from '../../src/invitations/invitations.sql.js';
import type { Statement } from '../../src/platform/database/database.js';
import { useTestDatabase } from '../setup/database/test-database.js';
import { insertCustomer, insertRow } from './valid-rows.js';

type Values = Readonly<Record<string, unknown>>;

const MINUTE_MS = 60_000;
const ago = (minutes: number) => new Date(Date.now() - minutes * MINUTE_MS);
const HASH = Buffer.alloc(32, 1);
const OPENED = { opened_at: ago(100) };
const WISHED = {
  // The pause of a wish is half of its age, which grows until the statement is executed.
  ...{ ...OPENED, wish_brand: 'acme', wished_at: ago(49.5), wish_due_at: ago(-10), wish_failed_at: ago(20) },
  reminder_due_at: ago(5),
};
const OVERDUE = { expires_at: ago(1) };
const EXPIRED = { ...OVERDUE, expired_at: ago(1) };
const RENEWED = { ...EXPIRED, renewal_requested_at: ago(4) };
const REVOKED = { revoked_at: ago(1) };
const DECLINED = { ...OPENED, declined_at: ago(9), decline_reason: 'not_mine' };
const ONLINE = { ...OPENED, owner_done_at: ago(30), online_at: ago(20) };
const CODE = { code_hash: HASH, code_expires_at: ago(-1) };
const BOUNCED = { sent_at: ago(7), bounced_at: ago(5), bounced_channel: 'letter' };
const SAME: readonly unknown[] = [false, null, false, null, false, null, false, null, false, null];
const changed = (at: number, ...values: readonly unknown[]) => SAME.toSpliced(at, values.length, ...values);

/** Returns a value as text: an instant as the minutes until it, whole ones when the statement is executed within a minute after it was made. */
function shown(value: unknown): string {
  if (value === null) return '';
  if (value instanceof Date) return String(Math.ceil((value.getTime() - Date.now() - 1_000) / MINUTE_MS) + 0);
  if (Buffer.isBuffer(value)) return value.toString('hex', 0, 1);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

describe('a statement about an invitation', () => {
  const database = useTestDatabase();
  let client: pg.Client;
  beforeAll(async () => {
    client = await database.connect();
  });

  /** Inserts an invitation, and returns how `change` changes it. */
  async function changesOf(values: Values, change: (id: string) => Promise<void>): Promise<string> {
    const before: Values & { id: string } = await insertRow(client, 'invitations', values);
    await change(before.id);
    const { rows } = await client.query<Values>('SELECT * FROM invitations WHERE id = $1', [before.id]);
    await client.query('DELETE FROM invitations');
    return Object.entries(rows[0]!)
      .filter(([name, value]) => shown(value) !== shown(before[name]))
      .map(([name, value]) => `${name.replace(/_at$/, '')}=${shown(value)}`)
      .join(' ');
  }

  it.each<[statement: keyof typeof sql, before: Values, values: readonly unknown[], changes: string]>([
    ['OPEN', {}, [], 'opened=0'],
    ['OPEN', OPENED, [], ''],
    ['OPEN', OVERDUE, [], ''],
    ['DECLINE', WISHED, ['not_mine'], 'wish_due= wish_failed= declined=0 decline_reason=not_mine'],
    ['DECLINE', DECLINED, ['not_interested'], ''],
    ['DECLINE', { ...OPENED, ...OVERDUE }, ['not_mine'], ''],
    ['TAKE_BACK', DECLINED, [], 'declined= decline_reason='],
    ['TAKE_BACK', OPENED, [], ''],
    ['AGREE_AGAIN', { ...DECLINED, ...ONLINE }, [], 'declined= decline_reason='],
    ['AGREE_AGAIN', DECLINED, [], ''],
    ['WITHDRAW_ENDED', ONLINE, [], 'declined=0'],
    ['WITHDRAW_ENDED', { ...DECLINED, ...ONLINE }, [], ''],
    ['WITHDRAW_ENDED', REVOKED, [], ''],
    ['EXPIRE', WISHED, [], 'wish_due= expired=0'],
    ['REVOKE', WISHED, [], 'wish_due= revoked=0'],
    ['REVOKE', EXPIRED, [], ''],
    ['WISH', WISHED, ['b', 3 * MINUTE_MS], 'wish_brand=b wished=0 wish_due=3 wish_failed= reminder_due=1440'],
    ['WISH', { ...OPENED, ...OVERDUE }, ['acme', 1], ''],
    ['FULFIL_WISH', WISHED, ['acme', false], 'wish_due= wish_failed= started=0'],
    [
      'FULFIL_WISH',
      { ...WISHED, started_at: ago(40) },
      ['acme', true],
      'wish_due= wish_failed= recovered=0 reminder_due=0',
    ],
    ['FULFIL_WISH', WISHED, ['b', false], 'wish_failed= started=0'],
    ['FULFIL_WISH', WISHED, [null, false], 'wish_failed= started=0'],
    ['DROP_WISH', WISHED, ['acme'], 'wish_due= wish_failed=0'],
    ['DROP_WISH', WISHED, ['b'], ''],
    ['CLAIM_WISHES', WISHED, [3 * MINUTE_MS], 'wish_due=25 wish_failed='],
    ['CLAIM_WISHES', WISHED, [60 * MINUTE_MS], 'wish_due=60 wish_failed='],
    ['CLAIM_WISHES', { ...WISHED, wished_at: ago(1_441) }, [1], 'wish_due= wish_failed=0'],
    ['RETRY_WISH', WISHED, [30 * MINUTE_MS], ''],
    ['RETRY_WISH', { ...WISHED, wish_due_at: null }, [MINUTE_MS], ''],
    ['RECORD_MESSAGE', BOUNCED, [ago(6), null, null], 'sent=-6'],
    ['RECORD_MESSAGE', BOUNCED, [ago(8), null, null], ''],
    ['RECORD_MESSAGE', BOUNCED, [null, ago(4), 'email'], 'bounced=-4 bounced_channel=email'],
    ['RECORD_MESSAGE', BOUNCED, [null, ago(6), 'email'], ''],
    ['SET_CODE', OPENED, [HASH, 15], 'code_hash=01 code_expires=15'],
    ['SET_CODE', OVERDUE, [HASH, 15], ''],
    ['USE_CODE', CODE, [], 'code_hash= code_expires='],
    ['USE_CODE', { ...CODE, code_expires_at: ago(1) }, [], ''],
    ['USE_CODE', { ...CODE, ...REVOKED }, [], ''],
    ['REQUEST_RENEWAL', EXPIRED, [5 * MINUTE_MS], 'renewal_requested=0'],
    ['REQUEST_RENEWAL', { ...EXPIRED, renewal_requested_at: ago(6) }, [5 * MINUTE_MS], 'renewal_requested=0'],
    ['REQUEST_RENEWAL', { ...EXPIRED, renewal_requested_at: ago(4) }, [5 * MINUTE_MS], ''],
    ['REQUEST_RENEWAL', OPENED, [1], ''],
    ['CHANGE', RENEWED, changed(0, true, ago(-60)), 'expires=60 expired= renewal_requested= reminder_due=0'],
    ['CHANGE', WISHED, changed(2, true, 'nl', true, ['b']), 'brands=["b"] locale=nl wish_due= wish_failed='],
    [
      'CHANGE',
      WISHED,
      changed(4, true, ['acme'], true, 'http://x', true, 3),
      'brands=["acme"] expected_inverters=3 return_url=http://x',
    ],
    ['CHANGE', { ...WISHED, ...RENEWED }, SAME, ''],
  ])(
    '%s changes what it is for, and nothing else (case %#)',
    async (statement, values, parameters, changes) => {
      const { gridLocationId: grid_location_id } = await insertCustomer(client);
      const ids = { USE_CODE: [HASH], EXPIRE: null, CLAIM_WISHES: null };
      const run = async (id: string) => {
        const first = statement in ids ? (ids[statement as keyof typeof ids] ?? [id]) : id;
        const { text = sql[statement] as string } = sql[statement] as Partial<Statement>;
        await client.query(text, [first, ...parameters]);
      };
      expect(await changesOf({ grid_location_id, ...values }, run)).toBe(changes);
    },
  );

  it.each<[what: string, inverter: Values, before: Values, changes: string]>([
    [
      'comes online',
      {},
      WISHED,
      'wish_due= awaits=installation owner_done=0 online=0 declined=0 reminder_due=',
    ],
    [
      'comes online after the consent was withdrawn',
      {},
      DECLINED,
      'awaits=installation owner_done=0 online=0 reminder_due=',
    ],
    [
      'loses its inverters',
      { missing_since: 'now' },
      { ...ONLINE, awaits: 'installation' },
      'awaits=start expires=2880 disconnected=0 reminder_due=1440',
    ],
    [
      'has its inverters again',
      {},
      { ...ONLINE, disconnected_at: ago(10), ...EXPIRED },
      'awaits=installation expired= declined=0 disconnected= reminder_due=',
    ],
  ])('RECORD_PROGRESS changes an invitation whose location %s', async (_, inverter, before, changes) => {
    const { userId: user_id, gridLocationId: grid_location_id } = await insertCustomer(client);
    const online = { state: 'online', rule: 'online', state_changed_at: ago(3) };
    const { id: session_id } = await insertRow<{ id: string }>(client, 'onboarding_sessions', {
      ...{ user_id, grid_location_id, ...online },
    });
    await insertRow(client, 'session_transitions', { session_id, to_state: 'online', at: ago(3) });
    await insertRow(client, 'inverters', { session_id, ...inverter });
    const { hash: text_hash } = await insertRow(client, 'consent_texts');
    const record = async (invitation_id: string) => {
      await insertRow(client, 'consents', { invitation_id, text_hash, withdrawn_at: 'now' });
      await client.query(sql.RECORD_PROGRESS, [[grid_location_id], 2]);
    };
    expect(await changesOf({ grid_location_id, ...before }, record)).toBe(changes);
  });
});
