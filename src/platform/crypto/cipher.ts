import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import type { CipherGCM, DecipherGCM } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Environment } from '../env/environment.js';

const ALGORITHM = 'aes-256-gcm';
const VERSION = 1;
/** The length of a key id: enough to distinguish the keys of a deployment. The id reveals nothing about its key. */
const KEY_ID_BYTES = 8;
/** A ciphertext starts with the version and the key id, so that SQL can tell which key encrypted it. */
export const HEADER_BYTES = 1 + KEY_ID_BYTES;
const NONCE_BYTES = 12;
/** We pass this length to Node, which would otherwise accept a tag truncated to 4 bytes. */
const TAG_BYTES = 16;

/** Encrypts secrets at rest. `context` names table, row and column, so that a ciphertext copied to another row cannot be decrypted. */
@Injectable()
export class Cipher {
  private readonly keys;

  constructor(environment: Environment) {
    this.keys = environment.ENCRYPTION_KEYS.map((key) => keyOf(Buffer.from(key, 'base64')));
  }

  /** Returns the header of the ciphertexts made with the first key. */
  get currentHeader(): Buffer {
    return this.keys[0]!.header;
  }

  /** Returns the id of the key that encrypted `stored` if ENCRYPTION_KEYS lacks that key. */
  missingKeyOf(stored: Buffer): string | undefined {
    return this.keyOf(stored) ? undefined : stored.subarray(1, HEADER_BYTES).toString('hex');
  }

  private keyOf(bytes: Buffer) {
    return this.keys.find(({ header }) => bytes.subarray(0, HEADER_BYTES).equals(header));
  }

  /** Encrypts with the first key. Returns header, nonce, ciphertext and tag. */
  encrypt(text: string, context: string): Buffer<ArrayBuffer> {
    const { secret, header } = this.keys[0]!;
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = this.sealer(secret, nonce, boundTo(header, context));
    return Buffer.concat([header, nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  }

  /**
   * Returns the header and a hash (HMAC-SHA-256) of a text under the first key. Nobody without the key can check a guess of the text against
   * it. `context` names what is hashed.
   */
  hash(text: string, context: string): Buffer<ArrayBuffer> {
    return hashUnder(this.keys[0]!, text, context);
  }

  /** Returns the hash of a text under each of the keys: a stored hash stays under the key that was the first at the time. */
  hashes(text: string, context: string): Buffer[] {
    return this.keys.map((key) => hashUnder(key, text, context));
  }

  decrypt(stored: Uint8Array, context: string): string {
    const text = this.tryDecrypt(stored, context);
    // The message omits the reason, which would help only an attacker.
    if (text === null) throw new Error('stored secret cannot be decrypted with any of ENCRYPTION_KEYS');
    return text;
  }

  /** Returns the text; null if the bytes are not our ciphertext, were altered or copied from another row, or if their key is missing. */
  tryDecrypt(stored: Uint8Array, context: string): string | null {
    const bytes = Buffer.from(stored);
    const key = this.keyOf(bytes);
    if (key === undefined || bytes.length < HEADER_BYTES + NONCE_BYTES + TAG_BYTES) return null;
    const nonce = bytes.subarray(HEADER_BYTES, HEADER_BYTES + NONCE_BYTES);
    const opener = this.opener(key.secret, nonce, boundTo(key.header, context));
    try {
      opener.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES));
      const text = opener.update(bytes.subarray(HEADER_BYTES + NONCE_BYTES, bytes.length - TAG_BYTES));
      return Buffer.concat([text, opener.final()]).toString('utf8');
    } catch {
      return null;
    }
  }

  protected sealer(secret: Buffer, nonce: Buffer, bound: Buffer): CipherGCM {
    return createCipheriv(ALGORITHM, secret, nonce, { authTagLength: TAG_BYTES }).setAAD(bound);
  }

  protected opener(secret: Buffer, nonce: Buffer, bound: Buffer): DecipherGCM {
    return createDecipheriv(ALGORITHM, secret, nonce, { authTagLength: TAG_BYTES }).setAAD(bound);
  }
}

// The key id is an HMAC of a label used for nothing else, so that it differs from every other value derived from the key.
const keyOf = (secret: Buffer) => {
  const id = createHmac('sha256', secret).update('pv-onboarding/key-id').digest().subarray(0, KEY_ID_BYTES);
  const hashing = Buffer.from(hkdfSync('sha256', secret, '', 'pv-onboarding/hash', 32));
  return { secret, hashing, header: Buffer.concat([Buffer.of(VERSION), id]) };
};

const hashUnder = ({ header, hashing }: ReturnType<typeof keyOf>, text: string, context: string) =>
  Buffer.concat([header, createHmac('sha256', hashing).update(`${context}/${text}`).digest()]);

/** Returns the data to authenticate. The header has a fixed length, so no other header and context give the same bytes. */
const boundTo = (header: Buffer, context: string): Buffer => Buffer.concat([header, Buffer.from(context)]);
