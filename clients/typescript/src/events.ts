import { Backoff, type RetryOptions } from './backoff.js';
import type { Client, Schemas } from './client.js';
import { isTemporary } from './problem.js';

/** Any event. `type` distinguishes the events. The service may add types: ignore those that you do not know. */
export type OnboardingEvent = Schemas['Event'];
export type EventType = OnboardingEvent['type'];
/** The event of one type, for example `EventOf<'pv.session.online.v1'>`. */
export type EventOf<T extends EventType> = Extract<OnboardingEvent, { type: T }>;

/** All event types except the test event, which only webhook endpoints receive. */
type FeedType = Schemas['FeedEvent']['type'];

export interface FollowOptions<T extends FeedType> extends RetryOptions {
  /** The `sequence` of the last event that was handled; `0` is the beginning. Default: new events only. */
  readonly after?: string | undefined;
  /** Default: all. */
  readonly types?: readonly T[];
  /** Default: the events of all sessions and of all other objects. */
  readonly sessionId?: string;
  /** Ends the iteration. */
  readonly signal?: AbortSignal;
}

/** The service sends something every 15 seconds, so a connection that is silent for longer is dead. */
const SILENCE_MS = 45_000;

/**
 * Yields the events of the stream without end, each event once, in order. Reconnects after a lost connection and resumes after the last
 * event. Throws a ProblemError that a retry cannot cure: a refused key, or an unknown `after`.
 */
export async function* followEvents<T extends FeedType = FeedType>(
  client: Client,
  { signal, onRetry, ...filter }: FollowOptions<T> = {},
): AsyncGenerator<EventOf<T>, void, undefined> {
  const backoff = new Backoff(onRetry);
  let last: string | undefined;
  while (!signal?.aborted) {
    let failure: unknown;
    try {
      for await (const block of streamBlocks(client, { ...filter, last, signal })) {
        backoff.succeeded();
        const { retry, id, data } = readFields(block);
        if (retry !== undefined) backoff.firstMs = Number(retry);
        const event = data === undefined ? undefined : (JSON.parse(data) as EventOf<T>);
        last = id ?? last;
        if (signal?.aborted) return;
        if (event !== undefined) yield event;
      }
    } catch (error) {
      if (!signal?.aborted && !isTemporary(error)) throw error;
      failure = error;
    }
    await backoff.pause(failure, signal);
  }
}

type Position<T extends FeedType> = FollowOptions<T> & { readonly last: string | undefined };

/** Yields the blocks of one connection. An empty line ends a block. */
async function* streamBlocks<T extends FeedType>(
  client: Client,
  { after, types, sessionId, last, signal }: Position<T>,
): AsyncGenerator<string, void, undefined> {
  const connection = new AbortController();
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  const disconnect = () => {
    connection.abort();
    // In Node, the signal no longer reaches the body once the request has been garbage collected.
    reader?.cancel().catch(() => {});
  };
  const unlessSilent = <R>(promise: Promise<R>): Promise<R> => {
    const timer = setTimeout(() => {
      connection.abort(new Error(`the service has sent nothing for ${SILENCE_MS} ms`));
      disconnect();
    }, SILENCE_MS);
    return promise.finally(() => clearTimeout(timer));
  };
  signal?.addEventListener('abort', disconnect);
  try {
    const { data } = await unlessSilent(
      client.GET('/api/v1/events/stream', {
        params: {
          query: { after, types: types?.join(','), sessionId },
          ...(last !== undefined && { header: { 'Last-Event-ID': last } }),
        },
        parseAs: 'stream',
        signal: connection.signal,
      }),
    );
    reader = (data as ReadableStream<Uint8Array>).getReader();
    const decoder = new TextDecoder();
    let rest = '';
    for (;;) {
      const chunk = await unlessSilent(reader.read());
      if (chunk.done) {
        // After a timeout for silence, `read` returns as if the stream were complete, so the error is thrown here.
        if (!signal?.aborted) connection.signal.throwIfAborted();
        return;
      }
      const blocks = (rest + decoder.decode(chunk.value, { stream: true })).split('\n\n');
      rest = blocks.pop() ?? '';
      yield* blocks;
    }
  } finally {
    signal?.removeEventListener('abort', disconnect);
    disconnect();
  }
}

interface Fields {
  readonly retry?: string;
  readonly id?: string;
  readonly data?: string;
}

function readFields(block: string): Fields {
  return Object.fromEntries(block.split('\n').map((line) => line.split(/: ?(.*)/s, 2) as [string, string]));
}
