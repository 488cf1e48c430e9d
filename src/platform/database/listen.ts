import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import pg from 'pg';

/** A connection that was good is replaced nearly at once; a server that cannot be reached is tried every second. */
const FIRST_RECONNECT_MS = 100;
const RECONNECT_MS = 1_000;
const CONNECTION_WAIT_MS = 5_000;
/**
 * A connection whose other end is gone without a word stays silent for ever, so it is asked something every second. One that does
 * not answer within the deadline is given up: 2.5 s after it fell silent at the latest.
 */
const HEARTBEAT_MS = 1_000;
const ANSWER_WITHIN_MS = 1_500;
/** A server that does not answer must not hold up the stop. */
const END_WITHIN_MS = 500;

/**
 * Calls `hint` at every NOTIFY on the channel, and whenever the connection is (again) there, since what was said meanwhile is
 * lost. Between its end and the moment that is noticed nothing is heard: whoever depends on what is announced must also read it
 * now and then. Uses one connection beside the pool, because a notification goes to the session that listens. Answers how to end it.
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
    // With the unanswered query in hand, this destroys the socket and waits for nobody.
    void lost.end().catch(() => {});
    timer = setTimeout(connect, isLost ? RECONNECT_MS : FIRST_RECONNECT_MS);
    // Once per outage, and not at every attempt.
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
    // Without a handler of its own, a lost connection ends the process.
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
