import { describe, expect, it } from '@jest/globals';
import { summaryOf } from './bulk-decision.command.js';

describe('the summary of a decision about many registrations', () => {
  it('says how many there are, from when, and the most frequent errors', () => {
    const errors = ['status 503', 'status 503', 'ECONNRESET', null, 'a', 'b', 'c', 'd'];
    const found = errors.map((lastError, at) => ({
      status: 'uncertain' as const,
      createdAt: `2026-11-25T10:00:0${9 - at}.000Z`,
      lastError,
    }));
    expect(summaryOf(found)).toBe(
      '8 uncertain registrations, created from 2026-11-25 10:00:02Z to 2026-11-25 10:00:09Z:' +
        '\n  2 × status 503\n  1 × ECONNRESET\n  1 × no error\n  1 × a\n  1 × b\n  and 2 other errors\n',
    );
  });
});
