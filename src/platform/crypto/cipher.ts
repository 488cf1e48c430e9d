import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import type { CipherGCM, DecipherGCM } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Environment } from '../env/environment.js';

const ALGORITHM = 'aes-256-gcm';
const VERSION = 1;
/** Enough to tell the keys of a deployment apart. The id reveals nothing about its key. */
const KEY_ID_BYTES = 8;
/** A ciphertext starts with the version and the key id, so that SQL can tell which key encrypted it. */
export const HEADER_BYTES = 1 + KEY_ID_BYTES;
const NONCE_BYTES = 12;
/** Passed to Node explicitly: otherwise Node accepts a tag truncated to 4 bytes. */
const TAG_BYTES = 16;

interface Key {
  readonly secret: Buffer;
  readonly header: Buffer;
}

/** Thrown if the bytes are not our ciphertext, were altered or copied from another row, or their key is missing from ENCRYPTION_KEYS. */
class DecryptionError extends Error {
  constructor() {
    super('stored secret cannot be decrypted with any of ENCRYPTION_KEYS');
  }
}

/** Encrypts secrets at rest. Authenticates `context`, such as `onboarding_sessions/<id>/start_url`: a copy in another row is unreadable. */
@Injectable()
export class Cipher {
  private readonly keys: readonly Key[];

  constructor(environment: Environment) {
    this.keys = environment.ENCRYPTION_KEYS.map((key) => keyOf(Buffer.from(key, 'base64')));
  }

  /** Returns the header that every ciphertext under the first key starts with. */
  get currentHeader(): Buffer {
    return this.keys[0]!.header;
  }

  /** Returns whether one of ENCRYPTION_KEYS encrypted these bytes. */
  hasKeyOf(stored: Uint8Array): boolean {
    return this.keyOf(Buffer.from(stored)) !== undefined;
  }

  /** Returns the id of the key that encrypted these bytes, in hexadecimal form. */
  keyIdOf(stored: Uint8Array): string {
    return Buffer.from(stored).subarray(1, HEADER_BYTES).toString('hex');
  }

  private keyOf(bytes: Buffer): Key | undefined {
    return this.keys.find(({ header }) => bytes.subarray(0, HEADER_BYTES).equals(header));
  }

  /** Encrypts with the first key. Returns header, nonce, ciphertext and tag. */
  encrypt(text: string, context: string): Buffer<ArrayBuffer> {
    const { secret, header } = this.keys[0]!;
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = this.sealer(secret, nonce, boundTo(header, context));
    return Buffer.concat([header, nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  }

  /** Throws DecryptionError, without a reason, because a reason would help only an attacker. */
  decrypt(stored: Uint8Array, context: string): string {
    const bytes = Buffer.from(stored);
    const key = this.keyOf(bytes);
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

  /** Returns null instead of throwing DecryptionError. */
  tryDecrypt(stored: Uint8Array, context: string): string | null {
    try {
      return this.decrypt(stored, context);
    } catch (error) {
      if (error instanceof DecryptionError) return null;
      throw error;
    }
  }

  protected sealer(secret: Buffer, nonce: Buffer, bound: Buffer): CipherGCM {
    return createCipheriv(ALGORITHM, secret, nonce, { authTagLength: TAG_BYTES }).setAAD(bound);
  }

  protected opener(secret: Buffer, nonce: Buffer, bound: Buffer): DecipherGCM {
    return createDecipheriv(ALGORITHM, secret, nonce, { authTagLength: TAG_BYTES }).setAAD(bound);
  }
}

// The id is an HMAC of a label used for nothing else, so that it differs from anything else derived from the key.
const keyOf = (secret: Buffer): Key => {
  const id = createHmac('sha256', secret).update('pv-onboarding/key-id').digest().subarray(0, KEY_ID_BYTES);
  return { secret, header: Buffer.concat([Buffer.of(VERSION), id]) };
};

/** Returns the data to authenticate. The header has a fixed length, so no other header and context give the same bytes. */
const boundTo = (header: Buffer, context: string): Buffer => Buffer.concat([header, Buffer.from(context)]);
