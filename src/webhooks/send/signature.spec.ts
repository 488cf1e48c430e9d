import { describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { signedHeaders } from './signature.js';

const SECRETS = ['whsec_bmV3IHNlY3JldCBvZiAyNCBieXRlcyE=', 'whsec_b2xkIHNlY3JldCBvZiAyNCBieXRlcyE='];
const message = { id: 'a3c1d5de', body: '{"data":"é 🌞"}', timestamp: new Date() };

describe('the signature of a webhook', () => {
  it.each(SECRETS)(
    'is accepted by the library of Standard Webhooks with either secret during a rotation',
    (secret) => {
      const headers = signedHeaders(message, SECRETS);
      expect(new Webhook(secret).verify(message.body, headers)).toEqual({ data: 'é 🌞' });
    },
  );

  it('covers the id, the time and every byte of the body', () => {
    const webhook = new Webhook(SECRETS[0]!);
    const headers = signedHeaders(message, [SECRETS[0]!]);
    expect(() => webhook.verify(`${message.body} `, headers)).toThrow();
    expect(() => webhook.verify(message.body, { ...headers, 'webhook-id': 'other' })).toThrow();
    expect(headers['webhook-timestamp']).toBe(String(Math.floor(message.timestamp.getTime() / 1_000)));
  });
});
