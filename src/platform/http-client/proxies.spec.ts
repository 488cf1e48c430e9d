import { describe, expect, it } from '@jest/globals';
import { proxyFor, proxySecretsOf, readProxyUrl } from './proxies.js';

const HTTPS_PROXY = 'http://proxy.example:3128';
const proxied = (url: string, NO_PROXY?: string) =>
  proxyFor(new URL(url), { HTTPS_PROXY, NO_PROXY }) !== undefined;

describe('the proxy of a connection', () => {
  it('is chosen by the scheme of the address', () => {
    const settings = { HTTPS_PROXY: 'http://secure.example:1', HTTP_PROXY: 'plain.example:2' };
    expect(proxyFor(new URL('https://scs.example'), settings)).toMatchObject({ name: 'secure.example:1' });
    expect(proxyFor(new URL('http://scs.example'), settings)).toMatchObject({ name: 'plain.example:2' });
    expect(proxyFor(new URL('http://scs.example'), { HTTPS_PROXY })).toBeUndefined();
    expect(proxyFor(new URL('https://scs.example'), {})).toBeUndefined();
  });

  it.each([
    ['https://localhost', false],
    ['https://LOCALHOST:4010', false],
    ['https://127.0.0.1', false],
    ['https://127.9.9.9:1', false],
    ['https://[::1]', false],
    ['https://[::ffff:127.0.0.1]', false],
    ['https://0.0.0.0', false],
    ['https://localhost.', false],
    ['https://pv.localhost', false],
    ['https://localhost.example', true],
    ['https://128.0.0.1', true],
    ['https://[2001:db8::1]', true],
  ])('is used for %s: %s', (url, expected) => expect(proxied(url)).toBe(expected));

  it.each([
    ['example.com', 'https://example.com', false],
    ['example.com', 'https://scs.example.com', false],
    ['.example.com', 'https://scs.example.com', false],
    ['.example.com', 'https://example.com', false],
    ['*.example.com', 'https://a.b.example.com', false],
    ['EXAMPLE.com', 'https://example.COM.', false],
    ['example.com', 'https://notexample.com', true],
    ['example.com', 'https://example.com.evil.test', true],
    ['example.com:443', 'https://example.com', false],
    ['example.com:8443', 'https://example.com', true],
    ['example.com:8443', 'https://example.com:8443', false],
    ['*', 'https://anything.example', false],
    ['a.test, b.test\tc.test', 'https://c.test', false],
    [', ,', 'https://c.test', true],
    ['.', 'https://c.test', true],
    ['192.0.2.7', 'https://192.0.2.7', false],
    ['192.0.2.0/24', 'https://192.0.2.7', false],
    ['192.0.2.0/24', 'https://192.0.3.7', true],
    ['192.0.2.0/99', 'https://192.0.2.7', true],
    ['192.0.2.0/x', 'https://192.0.2.7', true],
    ['0.2.7', 'https://192.0.2.7', true],
    ['2001:db8::1', 'https://[2001:db8::1]', false],
    ['2001:DB8:0::1', 'https://[2001:db8::1]', false],
    ['[2001:db8::1]', 'https://[2001:db8::1]', false],
    ['[2001:db8::1]:8443', 'https://[2001:db8::1]', true],
    ['[2001:db8::1]:8443', 'https://[2001:db8::1]:8443', false],
    ['2001:db8::/32', 'https://[2001:db8:1::1]', false],
    ['2001:db8::/32', 'https://192.0.2.7', true],
  ])('with NO_PROXY=%s for %s: %s', (noProxy, url, expected) => expect(proxied(url, noProxy)).toBe(expected));

  it.each([
    ['http://proxy.example:3128', 'http://proxy.example:3128'],
    ['http://proxy.example:3128/', 'http://proxy.example:3128'],
    ['https://proxy.example', 'https://proxy.example'],
    ['proxy.example:3128', 'http://proxy.example:3128'],
    ['[2001:db8::1]:3128', 'http://[2001:db8::1]:3128'],
    ['user:p%40ss@proxy.example:3128', 'http://proxy.example:3128'],
    ['socks5://proxy.example:1080', undefined],
    ['socks://proxy.example:1080', undefined],
    ['http://proxy.example:3128/path', undefined],
    ['http://proxy.example:3128?a=b', undefined],
    ['http://user:100%@proxy.example', undefined],
    ['http://proxy.example:99999', undefined],
    ['http://', undefined],
    ['', undefined],
  ])('reads %s as %s', (text, origin) => expect(readProxyUrl(text)?.origin).toBe(origin));

  it.each([
    ['http://user:p%40ss%3Aword%25@proxy.example', 'user:p@ss:word%'],
    ['http://user@proxy.example', 'user:'],
    ['http://:secret@proxy.example', ':secret'],
    ['http://us%C3%A9r:p%C3%A4ss@proxy.example', 'usér:päss'],
  ])('sends the credentials of %s decoded', (proxy, pair) => {
    const { authorization } = proxyFor(new URL('https://scs.example'), { HTTPS_PROXY: proxy })!;
    expect(Buffer.from(authorization!.replace('Basic ', ''), 'base64').toString()).toBe(pair);
    expect(proxySecretsOf({ HTTPS_PROXY: proxy })).toContain(pair);
  });

  it('has no credentials if the setting has none', () =>
    expect(proxyFor(new URL('https://scs.example'), { HTTPS_PROXY })!.authorization).toBeUndefined());
});
