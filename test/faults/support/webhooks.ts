import { randomUUID } from 'node:crypto';
import type { Database } from '../../../src/platform/database/database.js';
import { appendOnline } from '../../db/events/fixture.js';
import type { TestClient } from '../../setup/client.js';

export interface MadeEndpoint {
  readonly id: string;
  readonly secret: string;
}

/** Default of `types`: all, also the events that the endpoint itself causes. */
export async function makeEndpoint(client: TestClient, url: string, types?: string[]): Promise<MadeEndpoint> {
  const { status, body } = await client.call<MadeEndpoint>('POST', '/webhook-endpoints', { url, types });
  if (status !== 201) throw new Error(`no endpoint: ${status} ${JSON.stringify(body)}`);
  return body;
}

/** The type of the events of `announce`. */
export const ANNOUNCED = ['pv.session.online.v1'];

/** Appends `eventsEach` events for each of `sessions` sessions, in concurrent transactions. Returns the number of events. */
export async function announce(database: Database, sessions: number, eventsEach: number): Promise<number> {
  const ids = Array.from({ length: sessions }, () => randomUUID());
  for (let nth = 0; nth < eventsEach; nth++) {
    await Promise.all(ids.map((id) => appendOnline(database, id, String(nth))));
  }
  return sessions * eventsEach;
}
