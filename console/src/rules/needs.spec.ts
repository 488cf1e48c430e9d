import { describe, expect, it } from '@jest/globals';
import type { Stuck } from '../api/client.js';
import { needsOf, partsOf } from './needs.js';

const NOW = new Date('2026-11-26T12:00:00Z');
const item = (kind: Stuck['kind'], reason: string, since: string): Stuck => ({
  kind,
  id: since,
  tenantReference: null,
  reason,
  since,
  whatToDo: 'Look.',
});

describe('what needs a person', () => {
  it('is grouped by its reason, groups with something new first', () => {
    const needs = needsOf(
      [
        item('session', 'old', '2026-11-20T00:00:00Z'),
        item('session', 'old', '2026-11-19T00:00:00Z'),
        item('registration', 'new', '2026-11-26T11:00:00Z'),
        item('registration', 'new', '2026-11-21T00:00:00Z'),
        item('session', 'new', '2026-11-25T13:00:00Z'),
      ],
      NOW,
    );
    expect(needs.map(({ kind, reason, items, fresh }) => [kind, reason, items.length, fresh])).toEqual([
      ['registration', 'new', 2, 1],
      ['session', 'new', 1, 1],
      ['session', 'old', 2, 0],
    ]);
    expect(needs[2]!.oldest).toEqual(new Date('2026-11-19T00:00:00Z'));
  });

  it('names its calls apart from its words', () => {
    expect(partsOf('If so: POST /api/v1/registrations/1/resolve with the user. If not: wait.')).toEqual([
      { text: 'If so: ', isCall: false },
      { text: 'POST /api/v1/registrations/1/resolve', isCall: true },
      { text: ' with the user. If not: wait.', isCall: false },
    ]);
    expect(partsOf('Ask the provider.')).toEqual([{ text: 'Ask the provider.', isCall: false }]);
  });
});
