import { Injectable } from '@nestjs/common';
import { Cipher } from '../../../platform/crypto/cipher.js';
import type { PreviousSecret, SigningSecrets } from './rotation.rules.js';
import type { WebhookHeaders } from '../endpoints/headers.js';
import { headersContext, previousSecretContext, secretContext, type SealedSecrets } from './secrets.sql.js';

/**
 * Encrypts and decrypts the secret fields of an endpoint. Each ciphertext is bound to its row and column. Decrypting throws
 * DecryptionError.
 */
@Injectable()
export class WebhookSealing {
  constructor(private readonly cipher: Cipher) {}

  sealSecret(id: string, secret: string): Buffer {
    return this.cipher.encrypt(secret, secretContext(id));
  }

  sealPrevious(id: string, previous: readonly PreviousSecret[]): Buffer | null {
    return previous.length === 0
      ? null
      : this.cipher.encrypt(JSON.stringify(previous), previousSecretContext(id));
  }

  /** Returns the secrets that sign at `now`, the database's time. */
  openSecrets(id: string, sealed: SealedSecrets): SigningSecrets {
    const secret = this.cipher.decrypt(sealed.secretCiphertext, secretContext(id));
    return { secret, previous: this.openPrevious(id, sealed).filter(({ until }) => until > sealed.now) };
  }

  sealHeaders(id: string, headers: WebhookHeaders): Buffer | null {
    if (Object.keys(headers).length === 0) return null;
    return this.cipher.encrypt(JSON.stringify(headers), headersContext(id));
  }

  openHeaders(id: string, ciphertext: Buffer | null): WebhookHeaders {
    if (ciphertext === null) return {};
    return JSON.parse(this.cipher.decrypt(ciphertext, headersContext(id))) as WebhookHeaders;
  }

  private openPrevious(id: string, sealed: SealedSecrets): PreviousSecret[] {
    const { previousSecretCiphertext: ciphertext, previousSecretUntil } = sealed;
    if (ciphertext === null || previousSecretUntil === null) return [];
    const text = this.cipher.decrypt(ciphertext, previousSecretContext(id));
    // The original format: secrets separated by spaces, with one end for all.
    if (!text.startsWith('['))
      return text.split(' ').map((secret) => ({ secret, until: previousSecretUntil }));
    const stored = JSON.parse(text) as readonly { readonly secret: string; readonly until: string }[];
    return stored.map(({ secret, until }) => ({ secret, until: new Date(until) }));
  }
}
