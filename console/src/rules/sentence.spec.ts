import { describe, expect, it } from '@jest/globals';
import { partsOf } from './sentence.js';

describe('a sentence of the API', () => {
  it('names its calls apart from its words', () => {
    expect(partsOf('If so: POST /api/v1/registrations/1/resolve with the user. If not: wait.')).toEqual([
      { text: 'If so: ', kind: 'words' },
      { text: 'POST /api/v1/registrations/1/resolve', kind: 'call' },
      { text: ' with the user. If not: wait.', kind: 'words' },
    ]);
    expect(partsOf('Ask the provider.')).toEqual([{ text: 'Ask the provider.', kind: 'words' }]);
  });

  it('names its instants apart from its words', () =>
    expect(partsOf('Finish before 2026-11-27T23:08:19.000Z.')).toEqual([
      { text: 'Finish before ', kind: 'words' },
      { text: '2026-11-27T23:08:19.000Z', kind: 'instant' },
      { text: '.', kind: 'words' },
    ]));
});

it.each([
  ['A session has waited for 53900 s.', 'A session has waited for 14 h 58 min.'],
  ['awaiting_owner: read 45 s ago', 'awaiting owner: read 45 s ago'],
  ['Awaiting_installation is late', 'Awaiting installation is late'],
  ['session_polls is locked by process 7 (pv_app)', 'session_polls is locked by process 7 (pv_app)'],
])('%s is shown without our words and long seconds', (sentence, text) =>
  expect(partsOf(sentence)).toEqual([{ text, kind: 'words' }]),
);

it.each([
  ['GET /api/v1/status: look.', 'GET /api/v1/status'],
  ['Run pv-onboarding retry, then wait.', 'pv-onboarding retry'],
  ['DELETE /api/v1/users/1, at once.', 'DELETE /api/v1/users/1'],
  ['PATCH /api/v1/webhook-endpoints/e; then wait.', 'PATCH /api/v1/webhook-endpoints/e'],
])('the call of %j is %j', (sentence, call) =>
  expect(partsOf(sentence).filter(({ kind }) => kind === 'call')).toEqual([{ text: call, kind: 'call' }]),
);

it.each(['2026-11-27T23:08:19Z', '2026-11-27T23:08:19.123456Z'])('%s is an instant', (text) =>
  expect(partsOf(text)).toEqual([{ text, kind: 'instant' }]),
);
