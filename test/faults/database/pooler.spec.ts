import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { Database } from '../../../src/platform/database/database.js';
import { Listener } from '../../../src/platform/database/connection/listen.js';
import { checkPoolers } from '../../../src/platform/database/connection/poolers.js';
import { describeWith } from '../../setup/describe-with.js';
import { closeAfterEach } from '../../setup/close-after-each.js';
import {
  findPgBouncer,
  startPgBouncer,
  type PgBouncer,
  type PoolMode,
} from '../../setup/receivers/pgbouncer.js';
import { startWebhookSink } from '../../setup/receivers/webhook-sink.js';
import { createTestDatabase } from '../../setup/database/test-database.js';
import { environmentFor } from '../../setup/test-environment.js';
import { waitFor } from '../../setup/wait-for.js';
import { withClient } from '../../setup/database/with-client.js';
import { itAtLength, promise } from '../support/promise.js';
import { startReplicas, startSessions } from '../support/replicas.js';
import { findContradictions, findUntrue, NOTHING_FOUND } from '../support/evidence/session-oracle.js';
import { makeEndpoint } from '../support/webhooks.js';

const SESSIONS = 12;
const SETTINGS = `SELECT current_setting('statement_timeout') || current_setting('lock_timeout') AS timeouts`;

if (findPgBouncer() === null)
  promise('R56', { figure: 'NOT TESTED: there is no pgbouncer', bound: 'it is tested' });
describeWith(
  findPgBouncer(),
  'pgbouncer (or PGBOUNCER)',
  'R56: a pooler in between changes nothing',
  (program) => {
    const closing = closeAfterEach();

    const startPooler = async (mode: PoolMode): Promise<PgBouncer> => {
      const pooler = await startPgBouncer(program, mode);
      closing.push(pooler.stop);
      return pooler;
    };

    it.each([
      [
        'in transaction mode, with an address beside it and without prepared statements',
        'transaction' as const,
        (direct: string) => ({ DATABASE_DIRECT_URL: direct, DATABASE_PREPARED_STATEMENTS: false }),
      ],
      ['in session mode, without further settings', 'session' as const, () => ({})],
    ])('%s', async (_, mode, settingsFor) => {
      const pooler = await startPooler(mode);
      const replicas = await startReplicas({
        count: 2,
        environment: (url) => ({
          DATABASE_URL: pooler.through(url),
          // In session mode, each connection occupies one of the 20 connections of the pooler.
          DATABASE_POOL_SIZE: 4,
          ...settingsFor(url),
        }),
      });
      closing.push(replicas.close);
      await checkPoolers(replicas.apps[0]!.environment);
      const sink = await startWebhookSink();
      closing.push(sink.stop);
      await makeEndpoint(replicas.clients[0]!, sink.url);
      const { control } = replicas.sandbox;
      const database = replicas.apps[0]!.database;

      const sessions = await startSessions(replicas.clients[1]!, SESSIONS);
      await Promise.all(sessions.map(({ id }) => control.complete(id, { onlineAfterMs: 200 })));
      await waitFor(
        'all sessions are online here',
        async () =>
          (await control.sessions()).every(({ inverters }) => inverters.length > 0) &&
          (await findUntrue(database, control)).length === 0,
      );
      const events = await replicas.clients[0]!.events();
      await waitFor('every event has arrived', async () => (await sink.taken('/')) >= events.length);
      const findings = await findContradictions(database, control);
      promise('R56', {
        figure: `${mode} mode: ${SESSIONS} sessions, ${events.length} events, ${findings.lost.length} lost, ${findings.doubled.length} doubled`,
        bound: '0 lost, 0 doubled',
      });
      expect(findings).toEqual(NOTHING_FOUND);
      // For each session: one event of the user, one of the start, two of changes of state, one of the inverter.
      expect(events.length).toBeGreaterThanOrEqual(4 * SESSIONS);
    });

    describe('in transaction mode', () => {
      let pooler: PgBouncer;
      let url: string;

      beforeEach(async () => {
        const database = await createTestDatabase();
        closing.push(database.drop);
        url = database.url;
        pooler = await startPooler('transaction');
      });

      it.each([
        ['DATABASE_DIRECT_URL', () => environmentFor(pooler.through(url))],
        [
          'DATABASE_PREPARED_STATEMENTS=false',
          () => environmentFor(pooler.through(url), { DATABASE_DIRECT_URL: url }),
        ],
      ])('refuses to start without %s, and names it', async (missing, environment) => {
        await expect(checkPoolers(environment())).rejects.toThrow(`set ${missing}`);
      });

      const withDirectUrl = (direct: string) =>
        environmentFor(pooler.through(url), {
          DATABASE_DIRECT_URL: direct,
          DATABASE_PREPARED_STATEMENTS: 'false',
        });

      it('refuses to start in statement mode, which allows no transactions', async () => {
        pooler = await startPooler('statement');
        await expect(checkPoolers(withDirectUrl(url))).rejects.toThrow('refuses transactions');
      });

      it('refuses a DATABASE_DIRECT_URL that leads to another database', async () => {
        const other = await createTestDatabase();
        closing.push(other.drop);
        await expect(checkPoolers(withDirectUrl(other.url))).rejects.toThrow('leads to another database');
      });

      it('notices that its notifications do not arrive', async () => {
        const warn = jest.spyOn(Logger.prototype, 'warn');
        closing.push(() => warn.mockRestore());
        const hint = jest.fn();
        const listener = new Listener(environmentFor(pooler.through(url)));
        closing.push(() => listener.onApplicationShutdown());
        listener.on('some_channel', hint);
        const isNoticed = () => warn.mock.calls.some(([line]) => String(line).includes('does not listen'));
        await waitFor('it listens', () => hint.mock.calls.length > 0);
        // Takes the pooler's connection from the listener. This needs two clients: if a heartbeat is in flight, the first client gets
        // another connection.
        await withClient(pooler.through(url), (first) =>
          withClient(pooler.through(url), async (second) => {
            for (const other of [first, second]) await other.query('BEGIN; SELECT 1');
            await waitFor('the loss is noticed', isNoticed);
          }),
        );
      });

      /** Returns the timeouts that another client gets on a connection after a transaction of ours. */
      const timeoutsAfterUse = async (environment: Record<string, string>): Promise<string> => {
        const through = pooler.through(url);
        const database = new Database(
          environmentFor(through, { DATABASE_PREPARED_STATEMENTS: 'false', ...environment }),
        );
        await database.transaction((tx) => tx.query('SELECT 1'));
        await database.onApplicationShutdown();
        return withClient(
          through,
          async (other) => (await other.query<{ timeouts: string }>(SETTINGS)).rows[0]!.timeouts,
        );
      };

      // The bug: without DATABASE_DIRECT_URL, the service assumes that there is no pooler, and sets its timeouts on each connection.
      itAtLength('turns red when session state is set on a pooled connection', async () => {
        expect(await timeoutsAfterUse({})).toBe('15s5s');
      });

      it('limits the time of statements in a transaction, whose commit survives a crash', async () => {
        const database = new Database(withDirectUrl(url));
        closing.push(() => database.onApplicationShutdown());
        const inside = await database.transaction((tx) => tx.query<{ timeouts: string }>(SETTINGS));
        expect(inside).toEqual([{ timeouts: '15s5s' }]);
        const commits = await database.transaction((tx) => tx.query('SHOW synchronous_commit'));
        expect(commits).toEqual([{ synchronous_commit: 'on' }]);
      });
    });
  },
);
