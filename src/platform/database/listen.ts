import pg from 'pg';

const RECONNECT_MS = 1_000;
const CONNECTION_WAIT_MS = 5_000;

/**
 * Calls `hint` at every NOTIFY on the channel, and whenever the connection is (again) there, since what was said meanwhile is
 * lost. A half-open connection tells nobody that it is: whoever depends on what is announced must also read it now and then.
 * Uses one connection beside the pool, because a notification goes to the session that listens. Answers how to end it.
 */
export function listenTo(databaseUrl: string, channel: string, hint: () => void): () => Promise<void> {
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let ended = false;

  const reconnect = (lost: pg.Client): void => {
    if (lost !== client) return;
    client = undefined;
    void lost.end().catch(() => {});
    if (!ended) timer = setTimeout(connect, RECONNECT_MS);
  };

  const connect = (): void => {
    const next = new pg.Client({
      connectionString: databaseUrl,
      connectionTimeoutMillis: CONNECTION_WAIT_MS,
      keepAlive: true,
      application_name: 'pv-onboarding listen',
    });
    client = next;
    // Without a handler of its own, a lost connection ends the process.
    next.on('error', () => reconnect(next));
    next.on('end', () => reconnect(next));
    next.on('notification', hint);
    next
      .connect()
      .then(() => next.query(`LISTEN ${pg.escapeIdentifier(channel)}`))
      .then(hint)
      .catch(() => reconnect(next));
  };

  connect();
  return async () => {
    ended = true;
    clearTimeout(timer);
    const last = client;
    client = undefined;
    await last?.end().catch(() => {});
  };
}
