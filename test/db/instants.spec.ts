import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { readdir } from 'node:fs/promises';
import pg from 'pg';
import { migrate } from '../../src/platform/database/migrations/migrate.js';
import { MIGRATIONS_FOLDER } from '../../src/platform/database/migrations/script.js';
import { migrateTo } from '../faults/support/migrations.js';
import { createTestDatabase, type TestDatabase } from '../setup/test-database.js';
import { insertCustomer, insertRow } from './valid-rows.js';

const FIRST = '0001-01-01T00:00:00.000Z';
const LAST = '9999-12-31T23:59:59.999Z';
const GOOD = '2026-03-05T10:11:12.123Z';
/** Timestamps before the year 1 in UTC or after the year 9999, and infinity. */
const OUTSIDE = [
  '0001-01-01 00:00:00+02',
  '0044-03-15 12:00:00+00 BC',
  '10000-01-01 00:00:00+00',
  'infinity',
];

describe('the migration of invalid times', () => {
  let database: TestDatabase;
  let client: pg.Client;

  beforeEach(async () => {
    database = await createTestDatabase('empty');
    client = await database.connect();
    const names = (await readdir(MIGRATIONS_FOLDER)).sort();
    await migrateTo(database.url, names.indexOf('20261121050000_instants'));
  });
  afterEach(() => database.drop());

  it('replaces invalid times of a user by the time of its registration here, and keeps valid ones', async () => {
    const ids = [];
    for (const [created_at, updated_at] of [
      ...OUTSIDE.map((time) => [time, time]),
      [GOOD, OUTSIDE[0]],
      [GOOD, LAST],
    ]) {
      const row = await insertRow<{ id: string }>(client, 'users', { created_at, updated_at });
      ids.push(row.id);
    }
    await migrate(database.url);
    const { rows } = await client.query<{ created: string; updated: string }>(
      `SELECT CASE WHEN created_at = registered_at THEN 'registered' ELSE ${text('created_at')} END AS created,
              CASE WHEN updated_at = registered_at THEN 'registered' ELSE ${text('updated_at')} END AS updated
         FROM users ORDER BY array_position($1, id)`,
      [ids],
    );
    expect(rows.map(({ created, updated }) => [created, updated])).toEqual([
      ...OUTSIDE.map(() => ['registered', 'registered']),
      [GOOD, GOOD],
      [GOOD, LAST],
    ]);
  });

  it('replaces invalid times of a session by the first or the last instant, and updates its changed_at', async () => {
    const { userId, gridLocationId } = await insertCustomer(client);
    const sessionOf = (values: object) =>
      insertRow<{ id: string; changed_at: Date }>(client, 'onboarding_sessions', {
        user_id: userId,
        grid_location_id: gridLocationId,
        superseded_at: 'now',
        ...values,
      });
    const [created_at, updated_at, , expires_at] = OUTSIDE;
    const broken = await sessionOf({ created_at, updated_at, started_updated_at: updated_at, expires_at });
    const good = await sessionOf({ created_at: FIRST, updated_at: GOOD, expires_at: LAST });
    await migrate(database.url);
    const { rows } = await client.query(
      `SELECT ${text('created_at')} AS created, ${text('updated_at')} AS updated, ${text('expires_at')} AS expires,
              updated_at = started_updated_at AS unmoved, changed_at FROM onboarding_sessions ORDER BY changed_at`,
    );
    expect(rows).toEqual([
      { created: FIRST, updated: GOOD, expires: LAST, unmoved: false, changed_at: good.changed_at },
      { created: FIRST, updated: FIRST, expires: LAST, unmoved: true, changed_at: expect.any(Date) },
    ]);
    expect(rows[1].changed_at.getTime()).toBeGreaterThan(broken.changed_at.getTime());
  });

  it('adds constraints against such times, validated for every row', async () => {
    await migrate(database.url);
    const { rows } = await client.query(
      `SELECT conname, convalidated FROM pg_constraint WHERE conname LIKE '%_times_exist' ORDER BY conname`,
    );
    expect(rows).toEqual([
      { conname: 'onboarding_sessions_times_exist', convalidated: true },
      { conname: 'users_times_exist', convalidated: true },
    ]);
  });
});

const text = (column: string): string =>
  `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
