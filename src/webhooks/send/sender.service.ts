import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Agent } from 'undici';
import { Environment } from '../../platform/env/environment.js';
import { skippingInformational } from '../../platform/http-client/informational.js';
import { resolveName, type Resolve } from '../../platform/http-client/names.js';
import { proxyFor, type Proxy } from '../../platform/http-client/proxies.js';
import { describeConnectionError, MAX_HEADER_BYTES } from '../../platform/http-client/response-limits.js';
import { respondedAt } from '../../platform/http-client/retry-after.rules.js';
import { errorText } from '../../platform/redaction/error-text.js';
import { redact } from '../../platform/redaction/redaction.js';
import { withoutValues } from '../../platform/redaction/secrets.js';
import { VERSION } from '../../platform/build.js';
import type { SendOutcome } from '../../delivery/delivery-plan.rules.js';
import { refusalOf } from './addresses.js';
import { guardedConnector } from './guarded-connector.js';
import { sendOutcomeOf } from './response.rules.js';
import { signedHeaders, type Message } from './signature.js';

/** The deadline of an attempt, from DNS lookup to end of response: the shortest limit that Standard Webhooks recommends. */
const DEADLINE_MS = 15_000;
/** The number of bytes of a response body that are stored and shown. */
const STORED_BYTES = 1_024;
/** The number that is examined for secrets: a secret at the end of the stored part, cut in half, would not be recognised. */
const EXAMINED_BYTES = 8_192;
/** Bodies of at most 64 KiB are read completely, so that their connection can be reused. The rest of a longer body is not read. */
const READ_BYTES = 65_536;
/** Servers close idle connections after 5 s (Node) or more. We close them earlier, so that no request is sent on a closing connection. */
const KEEP_ALIVE_MS = 4_000;

export interface Destination {
  readonly url: string;
  /** The custom headers of the endpoint, in addition to ours. */
  readonly headers: Readonly<Record<string, string>>;
  /** All current signing secrets, each `whsec_` and base64; newest first. */
  readonly secrets: readonly string[];
}

/** Sends webhooks to public addresses or, with WEBHOOK_ALLOW_PRIVATE_ADDRESSES, to any address. */
@Injectable()
export class WebhookSender implements OnApplicationShutdown {
  /** Tests replace these two fields before the first attempt. */
  deadlineMs = DEADLINE_MS;
  resolve: Resolve = resolveName;
  private readonly refusal: (address: string) => string | null;
  private readonly proxyOf: (url: URL) => Proxy | undefined;
  private readonly closing = new AbortController();
  private agent: Agent | undefined;

  constructor(environment: Environment) {
    const { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: allowsPrivate, WEBHOOKS_VIA_PROXY: viaProxy } = environment;
    this.refusal = allowsPrivate ? () => null : refusalOf;
    this.proxyOf = (url) => (viaProxy ? proxyFor(url, environment) : undefined);
  }

  async onApplicationShutdown(): Promise<void> {
    this.closing.abort();
    await this.agent?.destroy();
  }

  /** Makes one attempt. If `stop` aborts, the attempt ends as failed. Never rejects: a failure is an outcome. */
  async send(destination: Destination, message: Message, stop?: AbortSignal): Promise<SendOutcome> {
    const { url, headers, secrets } = destination;
    const { origin, pathname, search } = new URL(url);
    const deadline = AbortSignal.timeout(this.deadlineMs);
    try {
      const response = await this.connections().request({
        origin,
        path: pathname + search,
        method: 'POST',
        signal: stop ? AbortSignal.any([deadline, stop]) : deadline,
        body: message.body,
        headers: {
          ...headers,
          // Structured mode of the CloudEvents HTTP binding (section 3.2).
          'content-type': 'application/cloudevents+json; charset=utf-8',
          'user-agent': `pv-onboarding/${VERSION}`,
          'accept-encoding': 'identity',
          ...(message.traceparent && { traceparent: message.traceparent }),
          ...signedHeaders(message, secrets),
        },
      });
      const [encoding] = [response.headers['content-encoding']].flat();
      const [retryAfter] = [response.headers['retry-after']].flat();
      const [date] = [response.headers.date].flat();
      const text = await readResponseText(response.body, encoding, [...secrets, ...Object.values(headers)]);
      return sendOutcomeOf(response.statusCode, text, retryAfter, respondedAt(date, message.timestamp));
    } catch (error) {
      const text = deadline.aborted ? `no response within ${this.deadlineMs} ms` : describe(error as Error);
      return { kind: 'failed', error: text };
    }
  }

  /** Makes the agent at the first attempt. */
  private connections(): Agent {
    if (this.agent !== undefined) return this.agent;
    const { resolve, refusal, proxyOf, deadlineMs: withinMs } = this;
    const connect = guardedConnector({ resolve, refusal, withinMs, proxyOf, closing: this.closing.signal });
    return (this.agent = new Agent({
      connect: skippingInformational(connect),
      maxHeaderSize: MAX_HEADER_BYTES,
      keepAliveTimeout: KEEP_ALIVE_MS,
      // Ignores a longer lifetime that the server offers in its Keep-Alive header.
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      // Disables both timeouts, because they restart with every byte. DEADLINE_MS limits the whole attempt.
      headersTimeout: 0,
      bodyTimeout: 0,
    }));
  }
}

/** Reads the beginning of a body and redacts `secrets`. Returns undefined if the body is empty or encoded. */
export async function readResponseText(
  body: AsyncIterable<Buffer>,
  encoding: string | undefined,
  secrets: readonly string[],
): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      if (size < EXAMINED_BYTES) chunks.push(chunk);
      size += chunk.length;
      if (size > READ_BYTES) break;
    }
  } catch {
    // The connection was cut, or the deadline has passed. The status decides the outcome, and the part that arrived is stored.
  }
  // Does not decode encoded bodies: we accept no encoding, and the body may be a decompression bomb.
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') return undefined;
  // TextDecoder never returns lone surrogates, which PostgreSQL would reject. `redact` removes control characters.
  const text = new TextDecoder().decode(Buffer.concat(chunks).subarray(0, EXAMINED_BYTES));
  const safe = redact(withoutValues(text, secrets.flatMap(partsOf)), EXAMINED_BYTES);
  return new TextDecoder().decode(Buffer.from(safe).subarray(0, STORED_BYTES), { stream: true }) || undefined;
}

/** Returns what a receiver may quote of a header: its value, the credentials after the scheme, and what Basic has of them. */
function partsOf(value: string): string[] {
  const [scheme = '', ...credentials] = value.split(' ');
  const [user = '', ...password] =
    scheme.toLowerCase() === 'basic'
      ? Buffer.from(credentials.join(' '), 'base64').toString().split(':')
      : [];
  return [value, ...credentials, `${user}:${password.join(':')}`, password.join(':')];
}

const describe = (error: Error): string =>
  errorText(Object.assign(new Error(describeConnectionError(error)), { name: error.name }));
