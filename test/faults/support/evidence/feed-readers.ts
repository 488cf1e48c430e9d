import { setTimeout as sleep } from 'node:timers/promises';
import { appendEvents } from '../../../../src/events/outbox.js';
import type { Database } from '../../../../src/platform/database/database.js';
import { TestClient, type EventAnswer } from '../../../setup/client.js';
import { ADMIN_KEY } from '../../../setup/test-environment.js';
import { waitFor } from '../../../setup/wait-for.js';

const PAUSE_MS = 5;

/** Reads the feed from random replicas until `isOver` and no event is left. Returns the event ids in the order read. */
export async function readFeedAlong(urls: () => readonly string[], isOver: () => boolean): Promise<string[]> {
  const ids: string[] = [];
  for (let after = '0'; ;) {
    const wasOver = isOver();
    const page = await readPage(urls(), after);
    if (page !== null) {
      ids.push(...page.items.map(({ id }) => id));
      if (wasOver && page.next === after) return ids;
      after = page.next;
    }
    await sleep(PAUSE_MS);
  }
}

interface Page {
  readonly items: readonly EventAnswer[];
  readonly next: string;
}

async function readPage(urls: readonly string[], after: string): Promise<Page | null> {
  const url = urls[Math.floor(Math.random() * urls.length)];
  if (url === undefined) return null;
  const client = new TestClient(url, ADMIN_KEY);
  const answer = await client.call<Page>('GET', `/events?after=${after}&limit=200`).catch(() => null);
  return answer?.status === 200 ? answer.body : null;
}

/** The bug: pages by `position`, which is assigned at the insert. The reader skips an event that commits late. */
export class PositionReader {
  private position = '0';

  constructor(private readonly database: Database) {}

  async readAlong(isOver: () => boolean): Promise<string[]> {
    const ids: string[] = [];
    for (;;) {
      const wasOver = isOver();
      const rows = await this.database.query<{ id: string; position: string }>(
        'SELECT id, position FROM domain_events WHERE position > $1 ORDER BY position',
        [this.position],
      );
      ids.push(...rows.map(({ id }) => id));
      if (wasOver && rows.length === 0) return ids;
      this.position = rows.at(-1)?.position ?? this.position;
      await sleep(PAUSE_MS);
    }
  }

  /** Commits an event only after this reader has read a later event, so that the overlap does not depend on chance. */
  async bePassed(): Promise<void> {
    const since = new Date().toISOString();
    const data = { operation: 'read_session', reason: 'late', since } as const;
    const events = [{ name: 'remote.degraded', subject: 'read_session', data }] as const;
    const pass = () => this.database.transaction((later) => appendEvents(later, events));
    await this.database.transaction(async (tx) => {
      await appendEvents(tx, events);
      const [own] = await tx.query<{ position: string }>(
        'SELECT max(position) AS position FROM domain_events WHERE xmin = pg_current_xact_id()::xid',
      );
      await pass();
      await waitFor(
        'the reader by position has read a later event',
        () => BigInt(this.position) > BigInt(own!.position),
      );
    });
  }
}

/** Delays the commit of every tenth event by a random time. Otherwise, few commits would overlap. */
export const COMMIT_SLOWLY = `
  CREATE FUNCTION commit_slowly() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN PERFORM pg_sleep(random() * 0.02); RETURN NULL; END $$;
  CREATE CONSTRAINT TRIGGER commit_slowly AFTER INSERT ON domain_events DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (new.position % 10 = 0) EXECUTE FUNCTION commit_slowly()`;
