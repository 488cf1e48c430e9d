import { describe, expect, it } from '@jest/globals';
import { partsOf } from './needs.js';

describe('what needs a person', () => {
  it('names its calls apart from its words', () => {
    expect(partsOf('If so: POST /api/v1/registrations/1/resolve with the user. If not: wait.')).toEqual([
      { text: 'If so: ', isCall: false },
      { text: 'POST /api/v1/registrations/1/resolve', isCall: true },
      { text: ' with the user. If not: wait.', isCall: false },
    ]);
    expect(partsOf('Ask the provider.')).toEqual([{ text: 'Ask the provider.', isCall: false }]);
  });
});
