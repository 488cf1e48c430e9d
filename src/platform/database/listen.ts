import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import pg from 'pg';

/** The first reconnect after a loss is nearly immediate; further attempts follow every second. */
const FIRST_RECONNECT_MS = 100;
const RECONNECT_MS = 1_000;
const CONNECTION_WAIT_MS = 5_000;
/**
 * A dead peer leaves its connection silent for ever, so a query is sent every second. If there is no response within the deadline, the
 * connection is abandoned: at the latest 2.5 s after it fell silent.
 */
const HEARTBEAT_MS = 1_000;
const ANSWER_WITHIN_MS = 1_500;
/** An unresponsive server must not delay the shutdown. */
const END_WITHIN_MS = 500;

/**
 * Calls `hint` at every NOTIFY on the channel, and after every (re)connect, since notifications sent in between are lost. Nothing is
 * received between the loss of a connection and its detection, so callers must also read the announced data periodically. Uses one
 * connection beside the pool, because notifications go to the session that listens. Returns a function that stops listening.
 */
export function listenTo(databaseUrl: string, channel: string, hint: () => void): () => Promise<void> {
  const logger = new Logger('Listen');
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isLost = false;

  const reconnect = (lost: pg.Client, reason: string): void => {
    if (lost !== client) return;
    clearTimeout(timer);
    client = undefined;
    // With the query still pending, this destroys the socket without waiting.
    void lost.end().catch(() => {});
    timer = setTimeout(connect, isLost ? RECONNECT_MS : FIRST_RECONNECT_MS);
    // Logs once per outage, not at every attempt.
    if (!isLost) logger.warn(`nothing is heard on ${channel} until it is connected again: ${reason}`);
    isLost = true;
  };

  const beat = (current: pg.Client): void => {
    timer = setTimeout(() => {
      current
        .query('SELECT 1')
        .then(() => current === client && beat(current))
        .catch((error: Error) => reconnect(current, error.message));
    }, HEARTBEAT_MS);
  };

  const connect = (): void => {
    const next = new pg.Client({
      connectionString: databaseUrl,
      connectionTimeoutMillis: CONNECTION_WAIT_MS,
      query_timeout: ANSWER_WITHIN_MS,
      keepAlive: true,
      application_name: 'pv-onboarding listen',
    });
    client = next;
    // Without its own handler, a client that loses its connection ends the process.
    next.on('error', (error) => reconnect(next, error.message));
    next.on('end', () => reconnect(next, 'the server ended it'));
    next.on('notification', hint);
    next
      .connect()
      .then(() => next.query(`LISTEN ${pg.escapeIdentifier(channel)}`))
      .then(() => {
        if (next !== client) return;
        isLost = false;
        beat(next);
        hint();
      })
      .catch((error: Error) => reconnect(next, error.message));
  };

  connect();
  return async () => {
    clearTimeout(timer);
    const last = client;
    client = undefined;
    const ended = last?.end().catch(() => {});
    await Promise.race([ended, sleep(END_WITHIN_MS, undefined, { ref: false })]);
  };
}
