import { beforeAll, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import * as sql from '../../src/invitations/invitations.sql.js';
import { useTestDatabase } from '../setup/database/test-database.js';
import { insertCustomer, insertRow } from './valid-rows.js';

type Values = Readonly<Record<string, unknown>>;

const MINUTE_MS = 60_000;
const ago = (minutes: number) => new Date(Date.now() - minutes * MINUTE_MS);
const HASH = Buffer.alloc(32, 1);
const OPENED = { opened_at: ago(100) };
const WISHED = {
  ...{ ...OPENED, wish_brand: 'acme', wished_at: ago(50), wish_due_at: ago(-10), wish_failed_at: ago(20) },
};
const OVERDUE = { expires_at: ago(1) };
const EXPIRED = { ...OVERDUE, expired_at: ago(1) };
const REVOKED = { revoked_at: ago(1) };
const DECLINED = { ...OPENED, declined_at: ago(9), decline_reason: 'not_mine' };
const ONLINE = { ...OPENED, owner_done_at: ago(30), online_at: ago(20) };
const CODE = { code_hash: HASH, code_expires_at: ago(-1) };
const BOUNCED = { sent_at: ago(7), bounced_at: ago(5), bounced_channel: 'letter' };
const SAME: readonly unknown[] = [false, null, false, null, false, null, false, null, false, null];
const changed = (at: number, ...values: readonly unknown[]) => SAME.toSpliced(at, values.length, ...values);

describe('a statement about an invitation', () => {
  const database = useTestDatabase();
  let client: pg.Client;
  beforeAll(async () => {
    client = await database.connect();
  });

  // The last column has what it changes. An instant is shown as the minutes until it.
  it.each<[what: string, before: Values, statement: string, values: readonly unknown[], Values]>([
    ['opens it', {}, sql.OPEN, [], { opened_at: 0 }],
    ['opens none twice', OPENED, sql.OPEN, [], {}],
    ['opens none after its date', OVERDUE, sql.OPEN, [], {}],
    [
      'declines it',
      WISHED,
      sql.DECLINE,
      ['not_mine'],
      { declined_at: 0, decline_reason: 'not_mine', wish_due_at: null, wish_failed_at: null },
    ],
    ['declines none twice', DECLINED, sql.DECLINE, ['not_mine'], {}],
    ['declines none after its date', { ...OPENED, ...OVERDUE }, sql.DECLINE, ['not_mine'], {}],
    ['takes that back', DECLINED, sql.TAKE_BACK, [], { declined_at: null, decline_reason: null }],
    ['takes nothing back', OPENED, sql.TAKE_BACK, [], {}],
    [
      'takes a withdrawal back',
      { ...DECLINED, ...ONLINE },
      sql.AGREE_AGAIN,
      [],
      { declined_at: null, decline_reason: null },
    ],
    ['takes a withdrawal back only if it is online', DECLINED, sql.AGREE_AGAIN, [], {}],
    ['withdraws the consent of one that is online', ONLINE, sql.WITHDRAW_ENDED, [], { declined_at: 0 }],
    ['withdraws a consent once', { ...ONLINE, declined_at: ago(9) }, sql.WITHDRAW_ENDED, [], {}],
    ['withdraws the consent of one that was revoked', REVOKED, sql.WITHDRAW_ENDED, [], {}],
    ['lets it expire', WISHED, sql.EXPIRE, [], { expired_at: 0, wish_due_at: null }],
    ['revokes it', WISHED, sql.REVOKE, [], { revoked_at: 0, wish_due_at: null }],
    ['revokes none that has expired', EXPIRED, sql.REVOKE, [], {}],
    [
      'records a wish',
      { ...WISHED, reminder_due_at: ago(1) },
      sql.WISH,
      ['sunward', 3 * MINUTE_MS],
      { wish_brand: 'sunward', wished_at: 0, wish_due_at: 3, wish_failed_at: null, reminder_due_at: 1_440 },
    ],
    ['records no wish after its date', { ...OPENED, ...OVERDUE }, sql.WISH, ['acme', 1], {}],
    [
      'fulfils a wish at once',
      WISHED,
      sql.FULFIL_WISH,
      ['acme', false],
      { started_at: 0, wish_due_at: null, wish_failed_at: null },
    ],
    [
      'fulfils a wish after a wait',
      { ...WISHED, started_at: ago(40) },
      sql.FULFIL_WISH,
      ['acme', true],
      { wish_due_at: null, wish_failed_at: null, recovered_at: 0, reminder_due_at: 0 },
    ],
    [
      'fulfils an earlier wish',
      WISHED,
      sql.FULFIL_WISH,
      ['b', false],
      { started_at: 0, wish_failed_at: null },
    ],
    ['drops a wish', WISHED, sql.DROP_WISH, ['acme'], { wish_due_at: null, wish_failed_at: 0 }],
    ['drops no later wish', WISHED, sql.DROP_WISH, ['sunward'], {}],
    ['records what was sent', BOUNCED, sql.RECORD_MESSAGE, [ago(6), null, null], { sent_at: -6 }],
    ['records what was sent earlier', BOUNCED, sql.RECORD_MESSAGE, [ago(8), null, null], {}],
    [
      'records what has come back',
      BOUNCED,
      sql.RECORD_MESSAGE,
      [null, ago(4), 'email'],
      { bounced_at: -4, bounced_channel: 'email' },
    ],
    ['records what has come back earlier', BOUNCED, sql.RECORD_MESSAGE, [null, ago(6), 'email'], {}],
    ['gives it a code', OPENED, sql.SET_CODE, [HASH, 15], { code_hash: HASH, code_expires_at: 15 }],
    ['gives none a code after its date', OVERDUE, sql.SET_CODE, [HASH, 15], {}],
    ['uses its code', CODE, sql.USE_CODE, [], { code_hash: null, code_expires_at: null }],
    ['uses no code after its time', { ...CODE, code_expires_at: ago(1) }, sql.USE_CODE, [], {}],
    ['uses no code of one that was revoked', { ...CODE, ...REVOKED }, sql.USE_CODE, [], {}],
    ['asks for a new link', EXPIRED, sql.REQUEST_RENEWAL, [5 * MINUTE_MS], { renewal_requested_at: 0 }],
    [
      'asks again after a while',
      { ...EXPIRED, renewal_requested_at: ago(6) },
      sql.REQUEST_RENEWAL,
      [5 * MINUTE_MS],
      { renewal_requested_at: 0 },
    ],
    [
      'asks not twice',
      { ...EXPIRED, renewal_requested_at: ago(4) },
      sql.REQUEST_RENEWAL,
      [5 * MINUTE_MS],
      {},
    ],
    ['asks not while it works', OPENED, sql.REQUEST_RENEWAL, [1], {}],
    [
      'gives it another date',
      { ...EXPIRED, renewal_requested_at: ago(4) },
      sql.CHANGE,
      changed(0, true, ago(-60)),
      { expires_at: 60, expired_at: null, renewal_requested_at: null, reminder_due_at: 0 },
    ],
    [
      'changes what else is given, and drops the wish for another brand',
      WISHED,
      sql.CHANGE,
      changed(2, true, 'nl', true, ['sunward'], true, 'http://x', true, 3),
      {
        ...{ locale: 'nl', brands: ['sunward'], return_url: 'http://x', expected_inverters: 3 },
        ...{ wish_due_at: null, wish_failed_at: null },
      },
    ],
    ['keeps the wish', WISHED, sql.CHANGE, changed(4, true, ['acme']), { brands: ['acme'] }],
    ['changes nothing', { ...WISHED, ...EXPIRED, renewal_requested_at: ago(4) }, sql.CHANGE, SAME, {}],
  ])('%s', async (_what, values, statement, parameters, expected) => {
    const { gridLocationId: grid_location_id } = await insertCustomer(client);
    const before = await insertRow<{ id: string }>(client, 'invitations', { grid_location_id, ...values });
    const first = statement === sql.USE_CODE ? [HASH] : statement === sql.EXPIRE ? [before.id] : before.id;
    await client.query(statement, [first, ...parameters]);
    const after = await client.query<Values>('SELECT * FROM invitations WHERE id = $1', [before.id]);
    await client.query('DELETE FROM invitations');
    const entries = Object.entries(after.rows[0]!)
      .filter(([name, value]) => JSON.stringify(value) !== JSON.stringify((before as Values)[name]))
      .map(([name, value]) => [
        name,
        value instanceof Date ? Math.round((value.getTime() - Date.now()) / MINUTE_MS) + 0 : value,
      ]);
    expect(Object.fromEntries(entries)).toEqual(expected);
  });
});
