import { expect, it } from '@jest/globals';
import type { Endpoint } from '../api/client.js';
import { remediesOf, silenceOf } from './silence.js';

const NOW = new Date('2026-11-26T12:00:00Z');
const ENDPOINT: Endpoint = {
  object: 'webhook_endpoint',
  id: 'e',
  url: 'https://app.example/hooks',
  types: [],
  description: '',
  headerNames: [],
  enabled: true,
  disabledAt: null,
  disabledReason: null,
  failures: 0,
  failingSince: null,
  lastDeliveredAt: '2026-11-26T11:58:00Z',
  stalled: null,
  previousSecretUntil: null,
  pending: 0,
  unread: 0,
  createdAt: '2026-11-01T00:00:00Z',
  updatedAt: '2026-11-01T00:00:00Z',
};
const STALLED: NonNullable<Endpoint['stalled']> = {
  cause: 'failing',
  waitsFor: 'tenant',
  urgency: 'soon',
  since: '2026-11-26T09:00:00Z',
  evidence: {},
  text: 'It gets nothing.',
  before: 'Repair the receiver.',
  remedies: [],
};

it.each<[string, Partial<Endpoint>, string, next?: string]>([
  ['well', {}, 'Works; last delivery 2 min ago.'],
  [
    'well',
    { types: ['pv.session.online.v1'] },
    'Works; last delivery 2 min ago. It only wants 1 type of events.',
  ],
  ['quiet', { lastDeliveredAt: null }, 'Has received nothing yet: no event that it wants has happened.'],
  [
    'attention',
    { failures: 12, failingSince: '2026-11-26T09:00:00Z', pending: 40, unread: 3 },
    'Has failed for 3 h: 12 attempts without success. 40 events waiting.',
    'Ask the team of its app',
  ],
  ['well', { lastDeliveredAt: '2026-11-26T12:00:00.040Z' }, 'Works; last delivery now.'],
  ['attention', { failures: 1 }, 'Has failed: 1 attempt without success.', 'Redeliver'],
  ['attention', { pending: 2_000 }, 'Is behind: 2,000 events waiting.', 'respond sooner'],
  ['attention', { pending: 101, unread: 300 }, 'Is behind: 300 events waiting.', 'respond sooner'],
  ['well', { pending: 100 }, 'Works; last delivery 2 min ago.'],
  ['quiet', { enabled: false }, 'Disabled by a person or an app.', 'If it is wanted again'],
  [
    'quiet',
    { lastDeliveredAt: null, types: ['pv.session.online.v1', 'pv.session.lost.v1'] },
    'Has received nothing yet: no event that it wants has happened. It only wants 2 types of events.',
  ],
  [
    'quiet',
    { enabled: false, disabledReason: 'requested', unread: 1 },
    'Disabled by a person or an app. 1 event waiting.',
    'If it is wanted again, enable it. It continues with the event at which it stopped.',
  ],
  [
    'attention',
    { enabled: false, disabledReason: 'gone', unread: 9, stalled: { ...STALLED, before: null } },
    'It gets nothing. 9 events waiting.',
  ],
  [
    'attention',
    { failures: 3, failingSince: '2026-11-26T09:00:00Z', unread: 9, stalled: STALLED },
    'It gets nothing. 9 events waiting.',
    'Repair the receiver.',
  ],
])('an endpoint is %s: %j', (tone, change, sentence, ...[next]) => {
  expect(silenceOf({ ...ENDPOINT, ...change }, NOW)).toEqual({
    tone,
    sentence,
    next: next === undefined ? null : expect.stringContaining(next),
  });
});

it('can be enabled by a person who finds it disabled, and is left alone otherwise', () => {
  const labelsOf = (change: Partial<Endpoint>) =>
    remediesOf({ ...ENDPOINT, ...change }).remedies.map(({ method, path, body, label }) => [
      label,
      method,
      path,
      body,
    ]);
  const enable = ['Enable it', 'PATCH', `/api/v1/webhook-endpoints/${ENDPOINT.id}`, { enabled: true }];
  expect(labelsOf({ enabled: false, disabledReason: 'requested' })).toEqual([enable]);
  expect(labelsOf({})).toEqual([]);
});
