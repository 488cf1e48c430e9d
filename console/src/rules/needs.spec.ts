import { describe, expect, it } from '@jest/globals';
import { commonStep, isNew, partsOf } from './needs.js';

describe('what needs a person', () => {
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

  it('has one next step where only the ids differ', () => {
    const items = ['a1', 'b2'].map((id) => ({ id, whatToDo: `POST /api/v1/onboarding/pv/${id}/refresh` }));
    expect(commonStep(items)).toBe('POST /api/v1/onboarding/pv/{id}/refresh');
    expect(commonStep([...items, { id: 'c3', whatToDo: 'Wait.' }])).toBeNull();
    expect(commonStep(items.slice(1))).toBeNull();
  });
});

it.each([
  ['2026-11-25T12:00:00.001Z', true],
  ['2026-11-25T12:00:00Z', false],
])('a case since %s is new: %s', (since, expected) =>
  expect(isNew({ since }, new Date('2026-11-26T12:00:00Z'))).toBe(expected),
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
