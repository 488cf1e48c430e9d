import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import type { OnboardingEvent } from './events.js';

/** The headers of a `Request`, of Node's `IncomingMessage`, or any object of them, in any case. */
type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Verifies a webhook and returns its event. Throws a WebhookVerificationError if none of the secrets has signed the webhook, or if it was
 * sent more than five minutes ago. `body`: the bytes or text as they arrived, not parsed.
 */
export function verifyWebhook(
  secrets: string | readonly string[],
  headers: WebhookHeaders,
  body: string | Uint8Array,
): OnboardingEvent {
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  const entries = Symbol.iterator in headers ? [...headers] : Object.entries(headers);
  const given = Object.fromEntries(entries.filter(isText));
  let refusal: unknown = new Error('Give at least one secret.');
  for (const secret of [secrets].flat()) {
    const webhook = new Webhook(secret);
    try {
      return webhook.verify(text, given) as OnboardingEvent;
    } catch (error) {
      if (!(error instanceof WebhookVerificationError)) throw error;
      refusal = error;
    }
  }
  throw refusal;
}

const isText = (entry: readonly [string, unknown]): entry is [string, string] => typeof entry[1] === 'string';
