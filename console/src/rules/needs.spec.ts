import { describe, expect, it } from '@jest/globals';
import { commonStep, partsOf } from './needs.js';

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
