import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { SequencedEvent } from '../../src/events/feed/events.store.js';
import { sessionEvent } from '../db/events/fixture.js';
import { faultsOf } from './check-events.js';
import { createTestDatabase } from './test-database.js';

const event = (change: object = {}, data: object = {}): SequencedEvent => {
  const { name, subject, data: facts } = sessionEvent('session.online', randomUUID());
  return {
    id: randomUUID(),
    name,
    subject,
    sequence: '1',
    time: new Date(),
    data: { ...facts, ...data },
    ...change,
  } as SequencedEvent;
};

describe('faultsOf', () => {
  it('finds none in an event of the catalogue', () => {
    expect(faultsOf(event())).toEqual([]);
  });

  it.each<[string, object, object, string]>([
    ['a field too many', {}, { ean: '541448820044186577' }, 'must NOT have additional properties'],
    ['a field of another type', {}, { metadata: 'autumn' }, '/data/metadata must be object'],
    ['a value that is not listed', {}, { state: 'lively' }, '/data/state must be equal to one of'],
    ['an unknown event', { name: 'session.sold' }, {}, 'session.sold is not an event of the catalogue'],
    ['a field too few', { data: { sessionId: 's' } }, {}, "must have required property 'userId'"],
  ])('finds %s', (_what, change, data, expected) => {
    expect(faultsOf(event(change, data)).join('\n')).toContain(expected);
  });
});

describe('a test database', () => {
  it('reports an event that breaks its contract when it is dropped', async () => {
    const database = await createTestDatabase();
    const client = await database.connect();
    await client.query(
      `INSERT INTO domain_events (id, name, subject, data) VALUES (gen_random_uuid(), 'user.registered', 'u', '{"ean": "1"}')`,
    );
    await expect(database.drop()).rejects.toThrow('user.registered: /data must have required property');
    await expect(database.drop()).resolves.toBeUndefined();
  });

  it('reports an event that is not a CloudEvent when it is dropped', async () => {
    const database = await createTestDatabase();
    const client = await database.connect();
    await client.query(
      `INSERT INTO domain_events (id, name, subject, data) VALUES (gen_random_uuid(), 'user.erased', '', '{"userId": "u"}')`,
    );
    await expect(database.drop()).rejects.toThrow('user.erased is not a CloudEvent');
  });
});
