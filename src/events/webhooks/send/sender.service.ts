import { Injectable } from '@nestjs/common';
import { errors } from 'undici';
import { Environment } from '../../../platform/env/environment.js';
import { Connections } from '../../../platform/http-client/connections.js';
import { errorText } from '../../../observability/redaction/error-text.js';
import { redact } from '../../../observability/redaction/redaction.js';
import { HIDDEN } from '../../../observability/redaction/secrets.js';
import { VERSION } from '../../../platform/version.js';
import type { SendOutcome } from '../../deliver/send-outcome.js';
import { refusalOf } from './addresses.js';
import { guardedConnector, resolveName, type Resolve } from './guarded-connector.js';
import { sendOutcomeOf } from './outcome.rules.js';
import { signedHeaders, type Message } from './signature.js';

/** Limits an attempt from the DNS lookup to the response status. The shortest limit that Standard Webhooks recommends. */
const DEADLINE_MS = 15_000;
/** The time for reading the body. If it runs out, the status still decides the outcome. */
const BODY_WITHIN_MS = 2_000;
/** How much of a response body is stored and shown. */
const STORED_BYTES = 1_024;
/** Bodies up to this size are read completely, so that their connection can be reused. The rest of a longer body is not read. */
const READ_BYTES = 65_536;
/** Shorter secrets are not redacted: as common words, they may appear in any response. */
const SHORTEST_SECRET = 6;
/** Servers close idle connections after 5 s (Node) or more. We close them earlier, so that no request is sent on a closing connection. */
const KEEP_ALIVE_MS = 4_000;

export interface Destination {
  readonly url: string;
  /** The custom headers of the endpoint, in addition to ours. */
  readonly headers: Readonly<Record<string, string>>;
  /** All current signing secrets, each `whsec_` and base64; newest first. */
  readonly secrets: readonly string[];
}

/** Sends webhooks to allowed addresses. Never throws: failures are outcomes. */
@Injectable()
export class WebhookSender {
  /** Replaced in tests. */
  deadlineMs = DEADLINE_MS;
  resolve: Resolve = resolveName;

  constructor(private readonly environment: Environment) {}

  /** Makes one attempt over its own connection. */
  async send(destination: Destination, message: Message): Promise<SendOutcome> {
    const connections = this.open(destination.url);
    try {
      return await this.sendOver(connections, destination, message);
    } finally {
      await connections.close();
    }
  }

  /** Opens connections for several messages to one endpoint, to save TLS handshakes. The caller must close them. */
  open(url: string): Connections {
    const refusal = this.environment.WEBHOOK_ALLOW_PRIVATE_ADDRESSES ? () => null : refusalOf;
    const connect = guardedConnector((hostname) => this.resolve(hostname), refusal);
    return new Connections(new URL(url).origin, connect, KEEP_ALIVE_MS);
  }

  /** Makes one attempt. It ends as failed when the connections are closed. */
  async sendOver(connections: Connections, destination: Destination, message: Message): Promise<SendOutcome> {
    const ending = new AbortController();
    const deadline = setTimeout(
      () => ending.abort(new Error(`no response within ${this.deadlineMs} ms`)),
      this.deadlineMs,
    );
    try {
      return await this.exchange(connections, destination, message, ending);
    } catch (error) {
      const reason = (ending.signal.aborted ? ending.signal.reason : error) as Error;
      return { kind: 'failed', status: null, error: describe(reason), answer: null, retryAfterMs: null };
    } finally {
      clearTimeout(deadline);
    }
  }

  private async exchange(
    connections: Connections,
    destination: Destination,
    message: Message,
    ending: AbortController,
  ): Promise<SendOutcome> {
    const request = requestOf(destination, message, ending.signal);
    const hidden = [...destination.secrets, ...Object.values(destination.headers)];
    for (;;) {
      const { client, isReused } = connections.take();
      let reusable = false;
      try {
        const response = await client.request(request);
        const timer = setTimeout(() => ending.abort(), BODY_WITHIN_MS);
        const [encoding] = [response.headers['content-encoding']].flat();
        const body = await readResponseText(response.body, encoding, hidden);
        clearTimeout(timer);
        reusable = body.isWhole;
        const [retryAfter] = [response.headers['retry-after']].flat();
        return sendOutcomeOf(response.statusCode, body.text, retryAfter, message.timestamp);
      } catch (error) {
        // The receiver may just have closed the reused connection, so the loop retries. Receivers must recognise repeats anyway.
        if (!isReused || ending.signal.aborted || error instanceof errors.ClientDestroyedError) throw error;
      } finally {
        connections.giveBack(client, reusable);
      }
    }
  }
}

function requestOf({ url, headers, secrets }: Destination, message: Message, signal: AbortSignal) {
  const { pathname, search } = new URL(url);
  return {
    method: 'POST' as const,
    path: pathname + search,
    signal,
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
  };
}

/** Reads the beginning of a body and redacts `secrets`. `text`: null if empty or encoded. `isWhole`: the body was read to its end. */
export async function readResponseText(
  body: AsyncIterable<Buffer>,
  encoding: string | undefined,
  secrets: readonly string[],
): Promise<{ readonly text: string | null; readonly isWhole: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  let isWhole = false;
  try {
    for await (const chunk of body) {
      if (size < STORED_BYTES) chunks.push(chunk);
      size += chunk.length;
      if (size > READ_BYTES) break;
    }
    isWhole = size <= READ_BYTES;
  } catch {
    // The connection was cut. The part that arrived is shown.
  }
  // Encoded bodies are not decoded: we accept no encoding, and the body may be a decompression bomb.
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') return { text: null, isWhole };
  // TextDecoder never returns lone surrogates, which PostgreSQL would reject. `redact` removes control characters.
  let text = new TextDecoder().decode(Buffer.concat(chunks).subarray(0, STORED_BYTES));
  for (const secret of secrets) if (secret.length >= SHORTEST_SECRET) text = text.replaceAll(secret, HIDDEN);
  return { text: redact(text, STORED_BYTES) || null, isWhole };
}

/** Returns the text of an error of undici or Node, with the error code if the message lacks it. */
function describe({ name, message, code = '' }: NodeJS.ErrnoException): string {
  const text = message.includes(code) ? message : `${message} (${code})`;
  return errorText(Object.assign(new Error(text), { name }));
}
