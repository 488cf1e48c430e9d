import { randomUUID } from 'node:crypto';
import { appendEvents } from '../../../src/events/outbox.js';
import type { Database } from '../../../src/platform/database/database.js';
import { sessionEvent } from '../../db/events-fixture.js';
import type { TestClient } from '../../setup/client.js';

export interface MadeEndpoint {
  readonly id: string;
  readonly secret: string;
}

export async function makeEndpoint(client: TestClient, url: string): Promise<MadeEndpoint> {
  const { status, body } = await client.call<MadeEndpoint>('POST', '/webhook-endpoints', { url });
  if (status !== 201) throw new Error(`no endpoint: ${status} ${JSON.stringify(body)}`);
  return body;
}

/** Appends so many events of each of so many sessions, in several transactions at once. Answers how many. */
export async function announce(database: Database, sessions: number, eventsEach: number): Promise<number> {
  const ids = Array.from({ length: sessions }, () => randomUUID());
  for (let nth = 0; nth < eventsEach; nth++) {
    await Promise.all(
      ids.map((id) =>
        database.transaction((tx) => appendEvents(tx, [sessionEvent('session.online', id, String(nth))])),
      ),
    );
  }
  return sessions * eventsEach;
}
