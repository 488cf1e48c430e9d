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
/**
 * Length of the id that identifies a key within a deployment and reveals nothing about it. Long enough that the ids of any realistic number
 * of keys differ.
 */
const KEY_ID_BYTES = 8;
/** Length of the header of a ciphertext: version and key id, so that SQL can tell which key encrypted it. */
export const HEADER_BYTES = 1 + KEY_ID_BYTES;
const NONCE_BYTES = 12;
/** Node accepts a tag truncated to 4 bytes unless the length is given. */
const TAG_BYTES = 16;

interface Key {
  readonly secret: Buffer;
  readonly header: Buffer;
}

/** The bytes are not one of our ciphertexts, were altered or copied from another row, or their key is missing from ENCRYPTION_KEYS. */
export class DecryptionError extends Error {
  constructor() {
    super('stored secret cannot be decrypted with any of ENCRYPTION_KEYS');
  }
}

/**
 * Encrypts secrets at rest. `context` names the row and column (such as `onboarding_sessions/<id>/start_url`). It is authenticated with the
 * text, so that a ciphertext copied to another row cannot be decrypted.
 */
@Injectable()
export class Cipher {
  private readonly keys: readonly Key[];

  constructor(environment: Environment) {
    this.keys = environment.ENCRYPTION_KEYS.map((key) => keyOf(Buffer.from(key, 'base64')));
  }

  /** Returns the header of every ciphertext under the first key. */
  get currentHeader(): Buffer {
    return this.keys[0]!.header;
  }

  /** Returns header, nonce, ciphertext and tag; always uses the first key. */
  encrypt(text: string, context: string): Buffer {
    const { secret, header } = this.keys[0]!;
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = this.sealer(secret, nonce, boundTo(header, context));
    return Buffer.concat([header, nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  }

  /** Throws DecryptionError without a reason, which would help only an attacker. */
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

// A hash would do for a random key; the HMAC separates the id from any other use of the key.
const keyOf = (secret: Buffer): Key => {
  const id = createHmac('sha256', secret).update('pv-onboarding/key-id').digest().subarray(0, KEY_ID_BYTES);
  return { secret, header: Buffer.concat([Buffer.of(VERSION), id]) };
};

/** Returns the data to authenticate. The header has a fixed length, so no other header and context give the same bytes. */
const boundTo = (header: Buffer, context: string): Buffer => Buffer.concat([header, Buffer.from(context)]);
