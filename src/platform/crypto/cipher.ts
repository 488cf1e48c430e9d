import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  randomBytes,
  type CipherGCM,
  type DecipherGCM,
} from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Environment } from '../env/environment.js';

const ALGORITHM = 'aes-256-gcm';
const VERSION = 1;
/** Names a key among those of a deployment, and says nothing of it. Of this length, no two of any number of keys are alike. */
const KEY_ID_BYTES = 8;
/** Version and key id: what a ciphertext begins with, so that SQL can tell under which key it is. */
export const HEADER_BYTES = 1 + KEY_ID_BYTES;
const NONCE_BYTES = 12;
/** Node accepts a tag cut to 4 bytes unless it is told the length. */
const TAG_BYTES = 16;

interface Key {
  readonly secret: Buffer;
  readonly header: Buffer;
}

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
  private readonly keys: readonly Key[];

  constructor(environment: Environment) {
    this.keys = environment.ENCRYPTION_KEYS.map((key) => keyOf(Buffer.from(key, 'base64')));
  }

  /** What every ciphertext under the first key begins with. */
  get currentHeader(): Buffer {
    return this.keys[0]!.header;
  }

  /** Header, nonce, ciphertext, tag; always under the first key. */
  encrypt(text: string, context: string): Buffer {
    const { secret, header } = this.keys[0]!;
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = this.sealer(secret, nonce, boundTo(header, context));
    return Buffer.concat([header, nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  }

  /** Throws DecryptionError; says nothing of why, since the reason would help nobody but an attacker. */
  decrypt(stored: Uint8Array, context: string): string {
    const bytes = Buffer.from(stored);
    const key = this.keys.find(({ header }) => bytes.subarray(0, HEADER_BYTES).equals(header));
    if (key === undefined || bytes.length < HEADER_BYTES + NONCE_BYTES + TAG_BYTES)
      throw new DecryptionError();
    const nonce = bytes.subarray(HEADER_BYTES, HEADER_BYTES + NONCE_BYTES);
    const opener = this.opener(key.secret, nonce, boundTo(key.header, context));
    try {
      opener.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES));
      const text = opener.update(bytes.subarray(HEADER_BYTES + NONCE_BYTES, bytes.length - TAG_BYTES));
      return Buffer.concat([text, opener.final()]).toString('utf8');
    } catch {
      throw new DecryptionError();
    }
  }

  protected sealer(secret: Buffer, nonce: Buffer, bound: Buffer): CipherGCM {
    return createCipheriv(ALGORITHM, secret, nonce, { authTagLength: TAG_BYTES }).setAAD(bound);
  }

  protected opener(secret: Buffer, nonce: Buffer, bound: Buffer): DecipherGCM {
    return createDecipheriv(ALGORITHM, secret, nonce, { authTagLength: TAG_BYTES }).setAAD(bound);
  }
}

// A hash would do for a random key; the HMAC keeps the id apart from any other use of one.
const keyOf = (secret: Buffer): Key => {
  const id = createHmac('sha256', secret).update('pv-onboarding/key-id').digest().subarray(0, KEY_ID_BYTES);
  return { secret, header: Buffer.concat([Buffer.of(VERSION), id]) };
};

/** The header has one length, so no other header and context make the same bytes. */
const boundTo = (header: Buffer, context: string): Buffer => Buffer.concat([header, Buffer.from(context)]);
