import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Cipher } from '../../platform/crypto/cipher.js';
import { encryptedColumn } from '../../platform/crypto/re-encryption.store.js';
import type { EndpointRow } from '../endpoint.sql.js';
import type { Destination } from '../send/sender.service.js';
import { SECRET_PREFIX, type PreviousSecret } from './secret.rules.js';

/** The encrypted secret, in its external form `whsec_…`. */
export const WEBHOOK_SECRETS = encryptedColumn('webhook_endpoints', 'secret_ciphertext');
/** An encrypted JSON list of `{ secret, until }`: the replaced secrets, each valid until `until`. */
export const PREVIOUS_WEBHOOK_SECRETS = encryptedColumn('webhook_endpoints', 'previous_secret_ciphertext');
/** An encrypted JSON object of header names and values. */
export const WEBHOOK_HEADERS = encryptedColumn('webhook_endpoints', 'headers_ciphertext');

/** The length of a SHA-256 output. A longer key adds no security. */
const GENERATED_BYTES = 32;

export const newWebhookSecret = (): string => SECRET_PREFIX + randomBytes(GENERATED_BYTES).toString('base64');

type Sealed = Buffer<ArrayBuffer>;

/** Encrypts and decrypts an endpoint's secret fields, bound to their row and column. The `open` methods throw if no key decrypts them. */
@Injectable()
export class WebhookSealing {
  constructor(private readonly cipher: Cipher) {}

  sealSecret(id: string, secret: string): Sealed {
    return this.cipher.encrypt(secret, WEBHOOK_SECRETS.context(id));
  }

  sealPrevious(id: string, previous: readonly PreviousSecret[]): Sealed | null {
    if (previous.length === 0) return null;
    return this.cipher.encrypt(JSON.stringify(previous), PREVIOUS_WEBHOOK_SECRETS.context(id));
  }

  /** Returns the secrets that are valid at `row.now`. */
  openSecrets(id: string, row: Pick<EndpointRow, 'secretCiphertext' | 'previousSecretCiphertext' | 'now'>) {
    const secret = this.cipher.decrypt(row.secretCiphertext, WEBHOOK_SECRETS.context(id));
    if (row.previousSecretCiphertext === null) return { secret, previous: [] };
    const text = this.cipher.decrypt(row.previousSecretCiphertext, PREVIOUS_WEBHOOK_SECRETS.context(id));
    const stored = JSON.parse(text) as readonly { readonly secret: string; readonly until: string }[];
    const previous = stored.map(({ secret, until }) => ({ secret, until: new Date(until) }));
    return { secret, previous: previous.filter(({ until }) => until > row.now) };
  }

  sealHeaders(id: string, headers: Destination['headers']): Sealed | null {
    if (Object.keys(headers).length === 0) return null;
    return this.cipher.encrypt(JSON.stringify(headers), WEBHOOK_HEADERS.context(id));
  }

  /** Returns an empty list if there are no headers or no key decrypts them. */
  listHeaderNames(id: string, ciphertext: Uint8Array | null): string[] {
    const text = ciphertext && this.cipher.tryDecrypt(ciphertext, WEBHOOK_HEADERS.context(id));
    return Object.keys(JSON.parse(text ?? '{}') as Destination['headers']);
  }

  openDestination(id: string, row: EndpointRow): Destination {
    const { secret, previous } = this.openSecrets(id, row);
    const { url, headersCiphertext } = row;
    const text = headersCiphertext && this.cipher.decrypt(headersCiphertext, WEBHOOK_HEADERS.context(id));
    const headers = JSON.parse(text ?? '{}') as Destination['headers'];
    return { url, headers, secrets: [secret, ...previous.map((other) => other.secret)] };
  }
}
