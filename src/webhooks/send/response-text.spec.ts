import { describe, expect, it } from '@jest/globals';
import { sendOutcomeOf } from './response.rules.js';
import { readResponseText } from './sender.service.js';

async function* chunks(...parts: (string | Buffer | Error)[]): AsyncGenerator<Buffer> {
  for (const part of parts) {
    if (part instanceof Error) throw part;
    yield await Promise.resolve(Buffer.from(part));
  }
}
const read = (...parts: (string | Buffer | Error)[]) => readResponseText(chunks(...parts), undefined, []);

describe('the stored text of a response', () => {
  it('is the first kilobyte at most', async () => {
    const text = await read('word '.repeat(100), 'word '.repeat(1_000));
    expect(text!.length).toBeLessThanOrEqual(1_024);
    expect(text).toMatch(/^word word/);
  });

  it('is taken from a body of which 64 kB are read, so that most connections can be used again', async () => {
    let read = 0;
    async function* endless(): AsyncGenerator<Buffer> {
      for (;;) {
        read += 8_192;
        yield await Promise.resolve(Buffer.alloc(8_192, 'a '));
      }
    }
    await readResponseText(endless(), undefined, []);
    expect(read).toBe(65_536 + 8_192);
  });

  it('is the part that arrived before the connection was cut', async () =>
    expect(await read('half', new Error('reset'))).toBe('half'));

  it('has none of the secrets, also if one is a part of another', async () => {
    const text = await readResponseText(chunks('secret-a secret-ab secret-abc'), undefined, [
      'secret-a',
      'secret-abc',
    ]);
    expect(text).toBe('[redacted] [redacted]b [redacted]');
  });

  it('is absent without a body', async () => expect(await read()).toBeUndefined());

  it('is absent if the body is compressed', async () =>
    expect(await readResponseText(chunks('\u001f\u008b'), 'gzip', [])).toBeUndefined());

  it('contains no NUL, no incomplete character and no lone surrogate', async () => {
    const text = await read(Buffer.from([0x61, 0, 0xed, 0xa0, 0x80, 0x62, 0xc3]));
    expect(text).not.toMatch(/[\0\uD800-\uDFFF]/);
    expect(text).toMatch(/^a.*b/);
  });

  it('contains no signing secret and no value of a custom header', async () => {
    const secrets = ['whsec_abc', 'token-of-theirs'];
    const text = await readResponseText(chunks('you sent whsec_abc and token-of-theirs'), undefined, secrets);
    expect(text).toBe('you sent [redacted] and [redacted]');
  });

  it.each([
    ['as JSON', 'Token a/b"cdefg', String.raw`a\/b\"cdefg`],
    ['in a page', "Token <a&b'cdef>", '&lt;a&amp;b&#39;cdef&gt;'],
    ['in a URL', 'Token a/b+cdefg', 'a%2Fb%2Bcdefg'],
    ['without its scheme', 'Bearer key-of-theirs', 'key-of-theirs'],
    ['decoded', `Basic ${Buffer.from('theirs:pass:word').toString('base64')}`, 'pass:word'],
  ])('contains no secret that the receiver quotes %s', async (_, header, quoted) =>
    expect(await readResponseText(chunks(`not "${quoted}".`), undefined, [header])).toBe('not "[redacted]".'),
  );

  it('contains no half of a secret at its end', async () => {
    const secret = 'key-of-theirs-again';
    for (let length = 1_000; length < 1_030; length++) {
      const text = await readResponseText(chunks('- '.repeat(500).padEnd(length, '-'), secret), undefined, [
        secret,
      ]);
      expect(text).not.toContain('key-');
    }
  });
});

describe('the outcome of a response', () => {
  it.each([
    [199, 'failed', 'responded with 199'],
    [200, 'delivered', undefined],
    [299, 'delivered', undefined],
    [300, 'failed', 'responded with 300: redirects are not followed'],
    [399, 'failed', 'responded with 399: redirects are not followed'],
    [400, 'failed', 'responded with 400'],
    [410, 'gone', 'responded with 410'],
    [500, 'failed', 'responded with 500'],
  ])('%i is %s', (status, kind, error) => {
    const outcome = sendOutcomeOf(status, 'an answer', '7', new Date());
    expect(outcome).toEqual({ kind, status, answer: 'an answer', ...(error !== undefined && { error }) });
  });

  it.each([429, 503])('%i waits as long as the receiver requests', (status) => {
    expect(sendOutcomeOf(status, undefined, '7', new Date())).toMatchObject({ retryAfterMs: 7_000 });
  });
});
