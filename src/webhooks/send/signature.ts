import { createHmac } from 'node:crypto';
import { SECRET_PREFIX } from '../secrets/secret.rules.js';

export interface Message {
  /** The id of the event: the same at every attempt, so that a receiver recognises repeats. */
  readonly id: string;
  /** Exactly these bytes are signed and sent. */
  readonly body: string;
  /** The time of the attempt by the database's clock: receivers reject webhooks that are minutes old or ahead. */
  readonly timestamp: Date;
  /** The span of the attempt (W3C Trace Context). */
  readonly traceparent?: string;
}

/** Returns the headers of Standard Webhooks 1.0 with one signature per secret: during a rotation, a receiver may know only one secret. */
export function signedHeaders(message: Message, secrets: readonly string[]): Record<string, string> {
  const seconds = Math.floor(message.timestamp.getTime() / 1_000);
  const content = `${message.id}.${seconds}.${message.body}`;
  return {
    'webhook-id': message.id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': secrets.map((secret) => sign(content, secret)).join(' '),
  };
}

function sign(content: string, secret: string): string {
  const key = Buffer.from(secret.replace(SECRET_PREFIX, ''), 'base64');
  return `v1,${createHmac('sha256', key).update(content).digest('base64')}`;
}
