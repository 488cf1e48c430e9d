import type { IncomingHttpHeaders } from 'node:http';
import { startTestProcess } from './test-process.js';

export type Fate = 'taken' | 'failed' | 'hung' | 'reset';

/** What a receiver does with what comes to a path of its own; shares are of 1. */
export interface SinkRules {
  readonly secret?: string;
  /** Answered with `status`, 500 unless given. */
  readonly fail?: number;
  readonly status?: number;
  readonly answer?: string;
  readonly answerHeaders?: Readonly<Record<string, string>>;
  /** Never answered. */
  readonly hang?: number;
  /** The connection is reset once the request has been read. */
  readonly reset?: number;
  /** Before the answer. */
  readonly delayMs?: number;
  readonly keepsHeaders?: boolean;
}

/** A request, also one that was not taken. */
export interface Received {
  readonly path: string;
  readonly id: string;
  readonly subject: string;
  readonly sequence: string;
  readonly type: string;
  /** By the library, over the bytes as they came. */
  readonly verified: boolean;
  readonly headers: IncomingHttpHeaders;
  readonly fate: Fate;
  /** By the clock of the machine, which is also ours. */
  readonly at: number;
}

export interface WebhookSink {
  readonly url: string;
  /** By path; forgets what was received. */
  behave(rules: Readonly<Record<string, SinkRules>>): Promise<void>;
  received(): Promise<Received[]>;
  /** How many different events were taken at the path. */
  taken(path: string): Promise<number>;
  stop(): Promise<unknown>;
}

/** A receiver of webhooks in a process of its own. */
export async function startWebhookSink(): Promise<WebhookSink> {
  const sink = await startTestProcess('test/setup/webhook-sink.process.ts', {});
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

/** Of what was taken at a path: each event once, by its first arrival, in the order of arrival. */
export function arrivals(received: readonly Received[], path: string): Received[] {
  const first = new Map<string, Received>();
  for (const each of received)
    if (each.path === path && each.fate === 'taken' && !first.has(each.id)) first.set(each.id, each);
  return [...first.values()];
}

/** Subjects of which an event was taken before an earlier one. */
export function outOfOrder(arrived: readonly Received[]): string[] {
  const last = new Map<string, bigint>();
  return arrived.flatMap(({ subject, sequence }) => {
    const isEarlier = BigInt(sequence) < (last.get(subject) ?? 0n);
    last.set(subject, BigInt(sequence));
    return isEarlier ? [subject] : [];
  });
}
