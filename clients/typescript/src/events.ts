import { Backoff } from './backoff.js';
import type { Client, Schemas } from './client.js';
import { isTemporary } from './problem.js';

/** Any event, told apart by `type`. The service may add types: ignore those that you do not know. */
export type OnboardingEvent = Schemas['Event'];
export type EventType = OnboardingEvent['type'];
/** The event of one type, for example `EventOf<'pv.session.online.v1'>`. */
export type EventOf<T extends EventType> = Extract<OnboardingEvent, { type: T }>;

export interface FollowOptions<T extends EventType> {
  /** The `sequence` of the last event that was handled; `0` is the beginning. Default: new events only. */
  readonly after?: string | undefined;
  /** Default: all. */
  readonly types?: readonly T[];
  /** Ends the iteration. */
  readonly signal?: AbortSignal;
}

/** The service sends something every 15 seconds, so a connection that is silent for longer is dead. */
const SILENCE_MS = 45_000;

/**
 * Follows the stream of events for ever: each event once, in order. Reconnects after every break and resumes after the last event. Throws a
 * ProblemError that a retry cannot cure: a refused key, or an unknown `after`.
 */
export async function* followEvents<T extends EventType = EventType>(
  client: Client,
  { after, types, signal }: FollowOptions<T> = {},
): AsyncGenerator<EventOf<T>, void, undefined> {
  const backoff = new Backoff();
  let last: string | undefined;
  while (!signal?.aborted) {
    let failure: unknown;
    try {
      for await (const block of streamBlocks(client, { after, types, last, signal })) {
        backoff.succeeded();
        const { retry, id, data } = readFields(block);
        if (retry !== undefined) backoff.firstMs = Number(retry);
        const event = data === undefined ? undefined : (JSON.parse(data) as EventOf<T>);
        last = id ?? last;
        if (event !== undefined) yield event;
      }
    } catch (error) {
      if (!signal?.aborted && !isTemporary(error)) throw error;
      failure = error;
    }
    await backoff.pause(failure, signal);
  }
}

type Position<T extends EventType> = FollowOptions<T> & { readonly last: string | undefined };

/** Reads the blocks of one connection: what comes between two empty lines. */
async function* streamBlocks<T extends EventType>(
  client: Client,
  { after, types, last, signal }: Position<T>,
): AsyncGenerator<string, void, undefined> {
  const connection = new AbortController();
  const disconnect = () => connection.abort();
  const unlessSilent = <R>(promise: Promise<R>): Promise<R> => {
    const timer = setTimeout(disconnect, SILENCE_MS);
    return promise.finally(() => clearTimeout(timer));
  };
  signal?.addEventListener('abort', disconnect);
  try {
    const { data } = await unlessSilent(
      client.GET('/api/v1/events/stream', {
        params: {
          query: { after, types: types?.join(',') },
          ...(last !== undefined && { header: { 'Last-Event-ID': last } }),
        },
        parseAs: 'stream',
        signal: connection.signal,
      }),
    );
    const reader = (data as ReadableStream<Uint8Array>).getReader();
    const decoder = new TextDecoder();
    let rest = '';
    for (;;) {
      const chunk = await unlessSilent(reader.read());
      if (chunk.done) return;
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
