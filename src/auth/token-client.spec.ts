import { describe, expect, it } from '@jest/globals';
import { readTokenResponse } from './token.client.js';

const NOW = new Date('2026-11-20T10:00:00Z');

describe('token request and response', () => {
  it('reads the sample of section 2.2', () => {
    const body = {
      access_token: 'abcdef',
      expires_in: '2026-12-04T10:00:00.0000000Z',
      token_type: 'pvcurtailment',
    };
    expect(readTokenResponse(body, NOW)).toEqual({
      value: 'abcdef',
      tokenType: 'pvcurtailment',
      expiresInRaw: '"2026-12-04T10:00:00.0000000Z"',
      life: { lifetimeMs: 14 * 86_400_000, reading: 'timestamp' },
    });
  });

  it.each([
    undefined,
    null,
    1,
    '',
    'short',
    'two words',
    'line\nbreak',
    'zoë',
    'x'.repeat(8_001),
    ['abc'],
    { value: 'abc' },
  ])('refuses access_token %.20j without quoting it', (value) =>
    expect(() => readTokenResponse({ access_token: value, expires_in: 3600 }, NOW)).toThrow(
      'access_token is not a string of 6 to 8000 visible ASCII characters',
    ),
  );

  it.each([[undefined], [null], ['P14D'], [{}], [-1]])('accepts any expires_in: %j', (value) => {
    const token = readTokenResponse({ access_token: 'abcdef', expires_in: value, token_type: ['x'] }, NOW);
    expect(token).toMatchObject({ value: 'abcdef', tokenType: null, life: { lifetimeMs: 900_000 } });
  });

  it('returns the first 100 characters of expires_in as JSON', () => {
    const rawOf = (expires_in: unknown) =>
      readTokenResponse({ access_token: 'abcdef', expires_in }, NOW).expiresInRaw;
    expect([undefined, null, 'P14D', 3600, 'x'.repeat(200)].map(rawOf)).toEqual([
      null,
      'null',
      '"P14D"',
      '3600',
      `"${'x'.repeat(99)}`,
    ]);
  });
});
