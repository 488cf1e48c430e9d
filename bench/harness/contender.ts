import { type ProfilePart, startProfile } from './profile.js';

/** What a process that takes part is started with; by message, because `databaseUrl` holds a password. */
export interface ContenderRequest {
  readonly remoteUrl: string;
  readonly databaseUrl: string;
  /** Calls at once. */
  readonly concurrency: number;
  /** Of the service: what differs from the configuration that all benchmarks share. */
  readonly environment?: Readonly<Record<string, string>>;
}

export type ContenderCommand =
  | { readonly kind: 'run'; readonly count: number; readonly options?: unknown }
  | { readonly kind: 'costs' }
  /** The first starts a profile, the next ends it and so on. */
  | { readonly kind: 'profile' };

/** Since the process was started. */
export interface ProcessCosts {
  readonly cpuMicroseconds: number;
  readonly residentBytes: number;
}

export type Reply =
  /** `url` where it serves HTTP. */
  | { readonly kind: 'ready'; readonly url?: string }
  | { readonly kind: 'done'; readonly result: unknown }
  | ({ readonly kind: 'costs' } & ProcessCosts)
  /** Empty when the profile was started. */
  | { readonly kind: 'profile'; readonly parts: readonly ProfilePart[] };

/** A contender that has been prepared; one that finds its work by itself has no `run`. */
export interface Prepared {
  readonly url?: string;
  run?(count: number, options: never): Promise<unknown>;
}

/** The child's side. A failure ends the process, which whoever waits for it is told. */
export function takePart(prepare: (request: ContenderRequest) => Promise<Prepared>): void {
  const reply = (message: Reply) => process.send?.(message);
  const profile = profiler();
  process.once('message', (request: ContenderRequest) => {
    void prepare(request).then((prepared) => {
      process.on('message', (command: ContenderCommand) => {
        if (command.kind === 'costs') reply({ kind: 'costs', ...costs() });
        else if (command.kind === 'profile')
          void profile().then((parts) => reply({ kind: 'profile', parts }));
        else
          void prepared
            .run?.(command.count, command.options as never)
            .then((result) => reply({ kind: 'done', result }));
      });
      reply({ kind: 'ready', url: prepared.url });
    });
  });
  process.once('disconnect', () => process.exit(0));
}

function costs(): ProcessCosts {
  const { user, system } = process.cpuUsage();
  return { cpuMicroseconds: user + system, residentBytes: process.memoryUsage.rss() };
}

function profiler(): () => Promise<readonly ProfilePart[]> {
  let end: (() => Promise<ProfilePart[]>) | undefined;
  return async () => {
    const parts = await end?.();
    end = parts === undefined ? await startProfile() : undefined;
    return parts ?? [];
  };
}
