import { Injectable } from '@nestjs/common';
import type { Client, Dispatcher } from 'undici';
import { Environment } from '../../../platform/env/environment.js';
import { Connections } from '../../../platform/http-client/connections.js';
import { errorText } from '../../../platform/redaction/error-text.js';
import { VERSION } from '../../../platform/version.js';
import { readAnswerText } from './response-text.js';
import { guardedConnector, openConnector, resolveName, type Resolve } from './guarded-connector.js';
import { outcomeOf, type SendOutcome } from './outcome.rules.js';
import { signedHeaders, type Message } from './signature.js';

/**
 * Limit of a whole attempt, from resolving the name to the status of the response. Standard Webhooks recommends 15 to 30 s. This is
 * the shortest of them, because a hanging receiver occupies one of few places that long.
 */
const DEADLINE_MS = 15_000;
/** The body is read only for people, after the status is known. */
const BODY_WITHIN_MS = 2_000;
/** Servers close idle connections after 5 s (Node) or more. Closing ours earlier avoids using one that is about to be closed. */
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
  private readonly allowsPrivate: boolean;

  constructor(environment: Environment) {
    this.allowsPrivate = environment.WEBHOOK_ALLOW_PRIVATE_ADDRESSES;
  }

  /** Makes one attempt over its own connection. */
  async send(destination: Destination, message: Message): Promise<SendOutcome> {
    const connections = this.open(destination.url);
    try {
      return await this.sendOver(connections, destination, message);
    } finally {
      await connections.close();
    }
  }

  /**
   * Opens connections for several messages to that URL; the caller must close them. A TLS handshake per event would cost more than
   * the event. An address is checked when its connection is made, so connections must not be shared between endpoints.
   */
  open(url: string): Connections {
    const resolve: Resolve = (hostname) => this.resolve(hostname);
    const connect = this.allowsPrivate ? openConnector(resolve) : guardedConnector(resolve);
    return new Connections(new URL(url).origin, connect, KEEP_ALIVE_MS);
  }

  /** Makes one attempt. Aborting `signal` ends it as failed. */
  async sendOver(
    connections: Connections,
    destination: Destination,
    message: Message,
    signal?: AbortSignal,
  ): Promise<SendOutcome> {
    const ending = new AbortController();
    const abort = (): void => ending.abort(new Error('broken off'));
    const deadline = setTimeout(
      () => ending.abort(new Error(`no answer within ${this.deadlineMs} ms`)),
      this.deadlineMs,
    );
    signal?.addEventListener('abort', abort, { once: true });
    if (signal?.aborted === true) abort();
    try {
      return await this.exchange(connections, destination, message, ending);
    } catch (error) {
      const reason: unknown = ending.signal.aborted ? ending.signal.reason : error;
      return { kind: 'failed', status: null, error: describe(reason), answer: null, retryAfterMs: null };
    } finally {
      clearTimeout(deadline);
      signal?.removeEventListener('abort', abort);
    }
  }

  private async exchange(
    connections: Connections,
    destination: Destination,
    message: Message,
    ending: AbortController,
  ): Promise<SendOutcome> {
    const request = requestOf(destination, message, ending.signal);
    for (;;) {
      const { client, isReused } = connections.take();
      let reusable = false;
      try {
        const response = await client.request(request);
        const { text, isWhole } = await readBody(response, destination, ending);
        reusable = isWhole;
        const retryAfter = headerOf(response, 'retry-after');
        return outcomeOf({ status: response.statusCode, text, retryAfter }, message.timestamp);
      } catch (error) {
        // The receiver may have closed the reused connection just now, which says nothing about its health. Send again; the receiver
        // must recognise repeats anyway.
        if (!isReused || ending.signal.aborted) throw error;
      } finally {
        connections.giveBack(client, reusable);
      }
    }
  }
}

type Request = Parameters<Client['request']>[0];
type Response = Dispatcher.ResponseData<unknown>;

function requestOf({ url, headers, secrets }: Destination, message: Message, signal: AbortSignal): Request {
  const { pathname, search } = new URL(url);
  return {
    method: 'POST',
    path: pathname + search,
    signal,
    body: message.body,
    headers: {
      ...headers,
      // Structured mode of the CloudEvents HTTP binding (section 3.2).
      'content-type': 'application/cloudevents+json; charset=utf-8',
      'user-agent': `pv-onboarding/${VERSION}`,
      'accept-encoding': 'identity',
      ...signedHeaders(message, secrets),
    },
  };
}

/** Reads the body. Never fails the attempt, because the status is already known. */
async function readBody(
  response: Response,
  { headers, secrets }: Destination,
  ending: AbortController,
): Promise<{ text: string | null; isWhole: boolean }> {
  const timer = setTimeout(() => ending.abort(), BODY_WITHIN_MS);
  try {
    return await readAnswerText(response.body, headerOf(response, 'content-encoding'), [
      ...secrets,
      ...Object.values(headers),
    ]);
  } finally {
    clearTimeout(timer);
  }
}

function headerOf({ headers }: Response, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Adds the error code if the message lacks it. Messages of undici and Node name addresses and codes. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return errorText(error);
  const { code } = error as NodeJS.ErrnoException;
  const isTold = code === undefined || error.message.includes(code);
  return errorText(
    isTold ? error : Object.assign(new Error(`${error.message} (${code})`), { name: error.name }),
  );
}
