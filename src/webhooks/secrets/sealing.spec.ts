import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { Cipher } from '../../platform/crypto/cipher.js';
import { Environment } from '../../platform/env/environment.js';
import { WebhookSealing } from './sealing.service.js';

const ID = '0b6d9a9e-7a25-4a55-8a9f-0c1d2e3f4a5b';
const now = new Date('2026-11-21T12:00:00Z');
const past = new Date('2026-11-21T11:59:59.999Z');
const future = new Date('2026-11-22T12:00:00Z');

const environment = new Environment();
environment.ENCRYPTION_KEYS = [randomBytes(32).toString('base64')];
const cipher = new Cipher(environment);
const sealing = new WebhookSealing(cipher);

describe('the stored secrets of a webhook endpoint', () => {
  const secretCiphertext = sealing.sealSecret(ID, 'whsec_current');
  const open = (previousSecretCiphertext: Buffer<ArrayBuffer> | null) =>
    sealing.openSecrets(ID, { secretCiphertext, previousSecretCiphertext, now });

  it('are each valid until their own time', () => {
    const sealed = sealing.sealPrevious(ID, [
      { secret: 'whsec_ended', until: past },
      { secret: 'whsec_ends-now', until: now },
      { secret: 'whsec_signs', until: future },
    ]);
    const previous = [{ secret: 'whsec_signs', until: future }];
    expect(open(sealed)).toEqual({ secret: 'whsec_current', previous });
  });

  it('may be only the current one', () => {
    expect(open(sealing.sealPrevious(ID, []))).toEqual({ secret: 'whsec_current', previous: [] });
  });
});
