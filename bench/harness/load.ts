import { Participant } from './participant.js';

/** Requests that differ in path or body, each taken in turn. */
export interface Load {
  readonly method: 'GET' | 'POST';
  readonly paths: readonly string[];
  readonly bodies?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  /** Fewer than the connections it was started with. */
  readonly atOnce?: number;
}

export interface LoadResult {
  readonly latenciesMs: readonly number[];
  /** How often each status was answered. */
  readonly statuses: Readonly<Record<string, number>>;
}

/** A load generator of its own process, for one server. */
export function startLoad(url: string, connections: number): Promise<Participant> {
  return Participant.start(new URL('./load.process.ts', import.meta.url), {
    remoteUrl: url,
    databaseUrl: '',
    concurrency: connections,
  });
}

/** Throws when anything but `expected` was answered: a fast refusal must not be taken for speed. */
export async function load(
  generator: Participant,
  count: number,
  what: Load,
  expected: readonly number[] = [200],
): Promise<LoadResult> {
  const result = await generator.run<LoadResult>(count, what);
  const other = Object.keys(result.statuses).filter((status) => !expected.includes(Number(status)));
  if (other.length > 0)
    throw new Error(`${what.method} ${what.paths[0]} was answered ${JSON.stringify(result.statuses)}`);
  return result;
}
