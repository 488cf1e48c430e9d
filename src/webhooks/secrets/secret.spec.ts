import { describe, expect, it } from '@jest/globals';
import { lastEndOf, planRotation, type PreviousSecret, webhookSecretFault } from './secret.rules.js';

const NOW = new Date('2026-11-21T12:00:00Z');
const after = (seconds: number) => new Date(NOW.getTime() + seconds * 1_000);
const previous: readonly PreviousSecret[] = [
  { secret: 'second', until: after(60) },
  { secret: 'first', until: after(86_400) },
];

describe('a rotation', () => {
  it('lets the current secret sign for the overlap, and earlier ones until their own end', () => {
    const planned = planRotation({ secret: 'third', previous }, 'fourth', 3_600, NOW);
    expect(planned).toEqual([{ secret: 'third', until: after(3_600) }, ...previous]);
  });

  it('without an overlap ends all previous secrets', () => {
    expect(planRotation({ secret: 'third', previous }, 'fourth', 0, NOW)).toEqual([]);
    expect(lastEndOf([])).toBeNull();
  });

  it('ends with the last of its previous secrets, which need not be the newest', () => {
    expect(lastEndOf(previous)).toEqual(after(86_400));
    expect(lastEndOf(previous.toReversed())).toEqual(after(86_400));
  });

  it('to the current secret adds no previous one', () => {
    expect(planRotation({ secret: 'third', previous }, 'third', 3_600, NOW)).toEqual(previous);
  });

  it('to a previous secret removes it from the previous ones', () => {
    const planned = planRotation({ secret: 'third', previous }, 'first', 3_600, NOW);
    expect(planned.map(({ secret }) => secret)).toEqual(['third', 'second']);
  });

  it('drops the oldest of five previous secrets', () => {
    const four = ['fourth', 'third', 'second', 'first'].map((secret) => ({ secret, until: after(60) }));
    const planned = planRotation({ secret: 'fifth', previous: four }, 'sixth', 60, NOW);
    expect(planned.map(({ secret }) => secret)).toEqual(['fifth', 'fourth', 'third', 'second']);
  });
});

describe('a given secret', () => {
  const fault = (bytes: number) => webhookSecretFault(`whsec_${Buffer.alloc(bytes, 7).toString('base64')}`);

  it('has 24 to 64 bytes', () => {
    expect([24, 64].map(fault)).toEqual([undefined, undefined]);
    expect([23, 65].map(fault)).toEqual([
      expect.stringContaining('not of 23'),
      expect.stringContaining('not of 65'),
    ]);
  });

  it.each([
    [undefined, 'must be whsec_ and base64 of 24 to 64 bytes'],
    [7, 'must be whsec_ and base64 of 24 to 64 bytes'],
    [Buffer.alloc(24, 7).toString('base64'), 'must be whsec_ and base64 of 24 to 64 bytes'],
    [`x whsec_${Buffer.alloc(24, 7).toString('base64')}`, 'must be whsec_ and base64 of 24 to 64 bytes'],
    [`whsec_${Buffer.alloc(25, 7).toString('base64').replace('=', '')}`, 'with its padding'],
    [`whsec_${Buffer.alloc(24, 7).toString('base64').replace('B', '!')}`, 'with its padding'],
  ])('%j is refused', (secret, message) => expect(webhookSecretFault(secret)).toContain(message));
});
