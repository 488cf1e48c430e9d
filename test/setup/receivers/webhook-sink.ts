import type { IncomingHttpHeaders } from 'node:http';
import { startTestProcess } from '../processes/test-process.js';

export type Fate = 'taken' | 'failed' | 'hung' | 'reset';

/** How the receiver treats the requests to one path. `fail`, `hang` and `reset` are shares of the requests, from 0 to 1. */
export interface SinkRules {
  readonly secret?: string;
  /** The share of requests that get a response of `status`. Default of `status`: 500. */
  readonly fail?: number;
  readonly status?: number;
  readonly answer?: string;
  readonly answerHeaders?: Readonly<Record<string, string>>;
  /** The share of requests that never get a response. */
  readonly hang?: number;
  /** The share of requests whose connection is reset after the request is read. */
  readonly reset?: number;
  readonly delayMs?: number;
  readonly keepsHeaders?: boolean;
}

export interface Received {
  readonly path: string;
  readonly id: string;
  readonly subject: string;
  readonly sequence: string;
  readonly type: string;
  /** Whether the Standard Webhooks library accepts the signature of the received bytes. */
  readonly verified: boolean;
  readonly headers: IncomingHttpHeaders;
  readonly fate: Fate;
  /** When the request arrived, in epoch milliseconds. */
  readonly at: number;
}

export interface WebhookSink {
  readonly url: string;
  /** Replaces the rules of all paths and forgets all received requests. */
  behave(rules: Readonly<Record<string, SinkRules>>): Promise<void>;
  received(): Promise<Received[]>;
  taken(path: string): Promise<number>;
  stop(): Promise<unknown>;
}

export async function startWebhookSink(): Promise<WebhookSink> {
  const sink = await startTestProcess('test/setup/receivers/webhook-sink.process.ts', {});
  const control = (init?: RequestInit) => fetch(`${sink.url}/control`, init);
  return {
    url: sink.url,
    behave: async (rules) => void (await control({ method: 'PUT', body: JSON.stringify(rules) })),
    received: async () => (await (await control()).json()) as Received[],
    taken: async (path) =>
      ((await (await fetch(`${sink.url}/control/taken`)).json()) as Record<string, number>)[path] ?? 0,
    stop: () => sink.stop('SIGKILL'),
  };
}

/** Returns the requests that the sink accepted at a path, in the order of arrival. Omits repeated events. */
export function arrivals(received: readonly Received[], path: string): Received[] {
  const first = new Map<string, Received>();
  for (const each of received)
    if (each.path === path && each.fate === 'taken' && !first.has(each.id)) first.set(each.id, each);
  return [...first.values()];
}

/** Returns the subjects whose events arrived out of sequence. */
export function outOfOrder(arrived: readonly Received[]): string[] {
  const last = new Map<string, bigint>();
  return arrived.flatMap(({ subject, sequence }) => {
    const isEarlier = BigInt(sequence) < (last.get(subject) ?? 0n);
    last.set(subject, BigInt(sequence));
    return isEarlier ? [subject] : [];
  });
}
