import { describe, expect, it } from '@jest/globals';
import { stateOf, type DrainView } from './drain.rules.js';

const NOTHING: DrainView = { isClosed: false, places: 16, unsettled: 0, ready: 0, isThereMore: false };

describe('a drain', () => {
  it.each<[string, Partial<DrainView>, string]>([
    ['sends what is claimed', { ready: 1 }, 'sending'],
    ['claims what may be due', { isThereMore: true }, 'sending'],
    ['sends on while requests are in flight', { unsettled: 1 }, 'sending'],
    [
      'waits for the requests in flight to a closed endpoint',
      { isClosed: true, unsettled: 1, ready: 1 },
      'settling',
    ],
    [
      'waits for them while the endpoint is left quiet',
      { places: 0, unsettled: 1, isThereMore: true },
      'settling',
    ],
    ['ends when nothing is due', {}, 'idle'],
    ['ends when the endpoint is closed', { isClosed: true, ready: 1, isThereMore: true }, 'idle'],
    ['ends when the endpoint is left quiet', { places: 0, ready: 1, isThereMore: true }, 'idle'],
  ])('%s', (_what, view, state) => expect(stateOf({ ...NOTHING, ...view })).toBe(state));
});
