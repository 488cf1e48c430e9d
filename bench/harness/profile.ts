import { Session, type Profiler } from 'node:inspector';
import { promisify } from 'node:util';

export interface ProfilePart {
  readonly part: string;
  readonly share: number;
}

/** Starts a CPU profile; the returned function ends it. */
export async function startProfile(): Promise<() => Promise<ProfilePart[]>> {
  const session = new Session();
  session.connect();
  const post = promisify(session.post.bind(session) as (method: string, done: Done) => void);
  await post('Profiler.enable');
  await post('Profiler.start');
  return async () => {
    const { profile } = (await post('Profiler.stop')) as unknown as Profiler.StopReturnType;
    session.disconnect();
    return partsOf(profile);
  };
}

type Done = (error: Error | null, result?: object) => void;

function partsOf({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): ProfilePart[] {
  const partById = new Map(nodes.map(({ id, callFrame }) => [id, partOf(callFrame)]));
  const times = new Map<string, number>();
  samples.forEach((id, nth) => {
    const part = partById.get(id);
    if (part === undefined || part === null) return;
    times.set(part, (times.get(part) ?? 0) + timeDeltas[nth]!);
  });
  const total = [...times.values()].reduce((sum, time) => sum + time, 0);
  return [...times]
    .map(([part, time]) => ({ part, share: time / total }))
    .toSorted((one, other) => other.share - one.share);
}

/** Returns the package, source folder or Node activity to which a call frame belongs, or null when idle. */
function partOf({ functionName, url }: { functionName: string; url: string }): string | null {
  if (functionName === '(idle)') return null;
  if (functionName === '(garbage collector)') return 'garbage collection';
  if (/^write/.test(functionName) && url === '') return 'writing to sockets';
  const name = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1];
  if (name !== undefined) return name.startsWith('pg') || name.startsWith('postgres-') ? 'pg' : name;
  const folder = /\/(?:src|dist)\/([^/]+)\//.exec(url)?.[1];
  if (folder !== undefined) return `src/${folder}`;
  return url.startsWith('wasm:') ? 'undici' : 'Node itself';
}
