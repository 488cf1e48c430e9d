import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { redact } from './redaction.js';
import { hideSecrets, hideToken } from './secrets.js';

const KEY = 'Key/with+signs="and" spaces';
hideSecrets([KEY, 'client-secret-canary', 'x']);
hideToken('token-canary');

describe('redact', () => {
  it.each([
    ['a configured secret', `key ${KEY} is unknown`],
    ['the same as JSON', JSON.stringify({ key: KEY })],
    ['the same in a form', new URLSearchParams({ key: KEY }).toString()],
    ['the same as base64', Buffer.from(KEY).toString('base64')],
    ['a token in use', 'no session for token-canary'],
    [
      'a secret across the length that is examined',
      `${'a '.repeat(4_090)}${'client-secret-canary'.repeat(4)}`,
    ],
  ])('removes %s', (_, text) => {
    const safe = redact(text, 100_000);
    expect(safe).not.toMatch(/signs|client-secret|token-canary/);
    expect(safe).not.toContain(Buffer.from(KEY).toString('base64'));
  });

  it.each([
    ['Bearer abc.def-ghi rejected', 'Bearer [redacted] rejected'],
    [
      '{"access_token":"short","token_type":"pvcurtailment"}',
      '{"access_token":"[redacted]","token_type":"pvcurtailment"}',
    ],
    ['client_secret=s3cret&scope=pvcurtailment', 'client_secret=[redacted]&scope=pvcurtailment'],
    [
      'open https://onboarding.example/pv-onboarding/Ab3 now',
      'open https://onboarding.example/[redacted] now',
    ],
    ['at postgres://user:pass@word@db.example:5432/pv', 'at postgres://db.example:5432/[redacted]'],
    ['at nats://token@broker.example', 'at nats://broker.example/[redacted]'],
    ['{"startUrl":"https://onboarding.example/t"}', '{"startUrl":"[redacted]"}'],
    ['at https:\\/\\/onboarding.example\\/t/Ab3', 'at https:\\/\\/onboarding.example/[redacted]'],
    ['path /pv-onboarding/4f0b5f3e-6c3b-4e59-8ad5-3d1d6f0f8a11', 'path /pv-onboarding/[redacted]'],
    ['jane.doe@example.org exists', '[email] exists'],
    ['EAN 871234567890123456 exists', 'EAN [ean] exists'],
    ['eyJhbGciOiJIUzI1NiJ9-eyJzdWIiOiIxIn0-c2ln', '[redacted]'],
    ['a token of CAPITALS_CAPITALS_CAPITALS_CAPITALS_4', 'a token of [redacted]'],
    ['a key KEY_ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEF', 'a key [redacted]'],
  ])('%s', (text, safe) => expect(redact(text)).toBe(safe));

  it('leaves ids, codes and ordinary words', () => {
    for (const text of [
      'grid location 6f6e0a4e-7f7c-4b6f-9d0b-0e6f8f4b8f10 not found (code GL-404)',
      'the response was cut off (UND_ERR_RES_CONTENT_LENGTH_MISMATCH)',
      'no certificate (ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED)',
    ])
      expect(redact(text)).toBe(text);
  });

  it('returns one line without control characters, of at most the given length', () => {
    expect(redact('a\r\nb\0c\u001b[31md\u2028e\u202ef\ud800g')).toBe('a b c [31md e f g');
    expect(redact('word '.repeat(1_000))).toHaveLength(300);
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 400 }),
        fc.integer({ min: 1, max: 50 }),
        (text, maxLength) => {
          const safe = redact(text, maxLength);
          expect(safe.length).toBeLessThanOrEqual(maxLength);
          expect(safe).not.toMatch(/[\p{Cc}\p{Cs}]/u);
        },
      ),
    );
  });

  it('stays fast on texts made to slow it down', () => {
    const before = process.cpuUsage();
    for (const unit of ['a', 'a.', 'a@', '/', '1', '"startUrl" ', 'https://', 'a:', 'x://@', '-a'])
      redact(unit.repeat(500_000 / unit.length));
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(2_000);
  });
});
