import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Environment } from '../env/environment.js';

const ALGORITHM = 'aes-256-gcm';
const VERSION = 1;
const NONCE_BYTES = 12;
/** Node accepts a tag cut to 4 bytes unless it is told the length. */
const TAG_BYTES = 16;

/** A ciphertext that is no ciphertext of ours, was tampered with, moved to another row, or whose key is gone. */
export class DecryptionError extends Error {
  constructor() {
    super('stored secret cannot be decrypted with any of ENCRYPTION_KEYS');
  }
}

/**
 * Secrets at rest. `context` names the row and column (such as `onboarding_sessions/<id>/start_url`): it is authenticated with
 * the text, so that a ciphertext copied to another row does not open.
 */
@Injectable()
export class Cipher {
  private readonly keys: readonly Buffer[];

  constructor(environment: Environment) {
    this.keys = environment.ENCRYPTION_KEYS.map((key) => Buffer.from(key, 'base64'));
  }

  /** Version byte, nonce, ciphertext, tag; always under the first key. */
  encrypt(text: string, context: string): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.keys[0]!, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(Buffer.from(context));
    return Buffer.concat([
      Buffer.of(VERSION),
      nonce,
      cipher.update(text, 'utf8'),
      cipher.final(),
      cipher.getAuthTag(),
    ]);
  }

  /** Throws DecryptionError; says nothing of why, since the reason would help nobody but an attacker. */
  decrypt(stored: Uint8Array, context: string): string {
    const bytes = Buffer.from(stored);
    if (bytes.length >= 1 + NONCE_BYTES + TAG_BYTES && bytes[0] === VERSION) {
      for (const key of this.keys) {
        try {
          return open(bytes, key, context);
        } catch {
          // The next key of the ring may be the one it was written with.
        }
      }
    }
    throw new DecryptionError();
  }
}

function open(bytes: Buffer, key: Buffer, context: string): string {
  const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(1, 1 + NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(context));
  decipher.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES));
  const text = decipher.update(bytes.subarray(1 + NONCE_BYTES, bytes.length - TAG_BYTES));
  return Buffer.concat([text, decipher.final()]).toString('utf8');
}
