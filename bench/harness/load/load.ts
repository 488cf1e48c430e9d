import { Participant } from '../participant.js';

/** A series of requests that cycles through `paths` and `bodies`. */
export interface Load {
  readonly method: 'GET' | 'POST';
  readonly paths: readonly string[];
  readonly bodies?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
}

export interface LoadResult {
  readonly latenciesMs: readonly number[];
  readonly statuses: Readonly<Record<string, number>>;
}

export function startLoad(url: string, connections: number): Promise<Participant> {
  return Participant.start(new URL('./load.process.ts', import.meta.url), {
    remoteUrl: url,
    databaseUrl: '',
    concurrency: connections,
  });
}

/** Sends the requests. Throws on a status outside `expected`, so that fast refusals do not count as throughput. */
export async function load(
  generator: Participant,
  count: number,
  what: Load,
  expected: readonly number[] = [200],
): Promise<LoadResult> {
  const result = await generator.run<LoadResult>(count, what);
  const other = Object.keys(result.statuses).filter((status) => !expected.includes(Number(status)));
  if (other.length > 0)
    throw new Error(`${what.method} ${what.paths[0]} got the statuses ${JSON.stringify(result.statuses)}`);
  return result;
}
