import { describe, expect, it } from '@jest/globals';
import type { Environment } from '../env/environment.js';
import { hideConfiguredSecrets, hideToken, withoutSecrets } from './secrets.js';

hideConfiguredSecrets({
  DATABASE_URL: 'postgresql://pv:p%40ssword-of-db@localhost/pv',
  DATABASE_DIRECT_URL: 'postgresql://pv:direct-p%40ssword@localhost/pv',
  SCS_API_KEY: 'remote "api" key',
  SCS_CLIENT_ID: 'remote-client',
  SCS_CLIENT_SECRET: 'remote-client-secret',
  CONSOLE_OIDC_CLIENT_SECRET: 's3cret',
  ADMIN_API_KEY: 'administrator-key-0123456789-0123456789',
  ENCRYPTION_KEYS: ['first-encryption-key', 'second-encryption-key'],
  HTTPS_PROXY: 'http://pv:p%40ssword-of-proxy@proxy.example:3128',
  EVENT_BROKER_URL: 'nats://pv:p%40ssword-of-broker@a.example,nats://token-of-broker@b.example',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'http://pv:p%40ssword-of-collector@localhost:4318',
  OTEL_EXPORTER_OTLP_HEADERS: 'x-team=of-the-team,x-key=key=of-the-collector,authorization=Basic%20b3RscA==',
} as Environment);

hideToken('token-in-use');

describe('withoutSecrets', () => {
  it.each([
    ['a value', 'failed with remote-client-secret', 'failed with [redacted]'],
    ['a token in use', 'token-in-use is refused: token-in-use', '[redacted] is refused: [redacted]'],
    ['the id of the client', 'failed with remote-client', 'failed with [redacted]'],
    ['the key of the administrator', 'administrator-key-0123456789-0123456789', '[redacted]'],
    ['every key of the ring', 'first-encryption-key,second-encryption-key', '[redacted],[redacted]'],
    ['a value inside JSON', JSON.stringify({ key: 'remote "api" key' }), '{"key":"[redacted]"}'],
    ['a value inside a query', `?key=${encodeURIComponent('remote "api" key')}`, '?key=[redacted]'],
    ['the password of the database', 'password p@ssword-of-db refused', 'password [redacted] refused'],
    ['the password of its direct address', 'password direct-p@ssword refused', 'password [redacted] refused'],
    ['the password of the collector', 'password p@ssword-of-collector', 'password [redacted]'],
    ['every header of the collector', 'of-the-team, key=of-the-collector', '[redacted], [redacted]'],
    ['a header of the collector as it is sent', 'sent Basic b3RscA==', 'sent [redacted]'],
    ['the password of the proxy', 'password p@ssword-of-proxy refused', 'password [redacted] refused'],
    [
      'what is sent to the proxy',
      `sent ${Buffer.from('pv:p@ssword-of-proxy').toString('base64')}`,
      'sent [redacted]',
    ],
    ['the password of the broker', 'password p@ssword-of-broker refused', 'password [redacted] refused'],
    ['the token of the broker', 'nats://token-of-broker@b.example', 'nats://[redacted]@b.example'],
    ['any bearer token', 'authorization: Bearer eyJ.abc-1~2+3/4==', 'authorization: Bearer [redacted]'],
    ['any secret of a webhook', 'secret whsec_aGVsbG8/d29ybGQ+aGVsbG8= of', 'secret [redacted] of'],
    [
      'any cookie of the console',
      'cookie: a=b; pvo_console=AbC-_1; c=d',
      'cookie: a=b; pvo_console=[redacted]; c=d',
    ],
    ['a secret of six characters', 'failed with s3cret', 'failed with [redacted]'],
    ['the password of any URL', 'at https://user:other@host/path', 'at https://user:[redacted]@host/path'],
  ])('removes %s', (_, text, expected) => {
    expect(withoutSecrets(text)).toBe(expected);
  });

  it('examines no replacement again, and hides no token that is an ordinary word', () => {
    for (const token of ['e', 'a', 're', 'redact', 'acted]', '[redac']) hideToken(token);
    const line = withoutSecrets('redact: read a response with token-in-use');
    expect(line).toBe('[redacted]: read a response with [redacted]');
    expect(withoutSecrets(line).length).toBeLessThan(3 * line.length);
  });

  it('hides the longer of two secrets that begin alike', () => {
    hideToken('token-in-use-longer');
    expect(withoutSecrets('token-in-use-longer token-in-use')).toBe('[redacted] [redacted]');
  });

  it('leaves everything else unchanged', () => {
    const text = 'GET http://127.0.0.1:3000/api/v1/users?limit=2 took 12 ms, bearer of news at 10:30@noon';
    expect(withoutSecrets(text)).toBe(text);
  });
});
