import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import pg from 'pg';
import { Loop } from '../async/loop.js';
import { STOP_WITHIN_MS } from '../shutdown/limits.js';

const RECONNECT_MS = 500;
/**
 * A dead server does not close its connection, and a pooler may switch to a connection that does not listen. The heartbeat detects both
 * within 2.5 s.
 */
const HEARTBEAT_MS = 1_000;
const HEARTBEAT = 'SELECT FROM pg_listening_channels() AS channel WHERE channel = $1';
const RESPONSE_WITHIN_MS = 1_500;

/**
 * Calls `hint` at every NOTIFY on the channel, and after every (re)connect, since notifications are lost while disconnected. Callers must
 * also read the data periodically, since a lost connection is noticed late. Opens its own connection. Returns a function that stops
 * listening.
 */
export function listenTo(databaseUrl: string, channel: string, hint: () => void): () => Promise<void> {
  const logger = new Logger('Listen');
  let isLost = false;

  /** Listens on one connection; rejects when it is lost or `stop` aborts. */
  const listen = async (stop: AbortSignal): Promise<never> => {
    const client = new pg.Client({
      connectionString: databaseUrl,
      connectionTimeoutMillis: 5_000,
      query_timeout: RESPONSE_WITHIN_MS,
      keepAlive: true,
      application_name: 'pv-onboarding listen',
    });
    const done = new AbortController();
    const loss = new Promise<never>((_, reject) => {
      client.on('error', reject).on('end', () => reject(new Error('the server closed the connection')));
      stop.addEventListener('abort', () => reject(new Error('stopped')), { signal: done.signal });
    });
    client.on('notification', hint);
    const work = async (): Promise<never> => {
      await client.connect();
      await client.query(`LISTEN ${pg.escapeIdentifier(channel)}`);
      isLost = false;
      hint();
      for (;;) {
        await sleep(HEARTBEAT_MS, undefined, { signal: stop });
        // Not NOTIFY, which would wait for a lock that a stalled commit may hold.
        const { rowCount } = await client.query(HEARTBEAT, [channel]);
        if (rowCount === 0) throw new Error('a pooler has switched to a connection that does not listen');
      }
    };
    try {
      return await Promise.race([work(), loss]);
    } finally {
      done.abort();
      // `end` destroys the socket at once if a query is pending. Awaited only on stop, since a lost connection may never end.
      const ended = client.end().catch(() => {});
      if (stop.aborted) await ended;
    }
  };

  const loop = new Loop({
    step: listen,
    onError: (error) => {
      // Logs once per outage, not at every attempt.
      if (!isLost)
        logger.warn(`no notifications arrive on ${channel} until it reconnects: ${(error as Error).message}`);
      isLost = true;
      return RECONNECT_MS;
    },
  });
  loop.start();
  return () => loop.stop(STOP_WITHIN_MS.listener);
}
