import { RoundTrips } from './round-trips.js';

/** The first message to a contender process. Not passed on the command line, because `databaseUrl` contains a password. */
export interface ContenderRequest {
  readonly remoteUrl: string;
  readonly databaseUrl: string;
  readonly concurrency: number;
  /** Overrides of the service's environment. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Whether to count the round trips to PostgreSQL, which costs a little. Default: false. */
  readonly countsRoundTrips?: boolean;
}

export type ContenderCommand =
  { readonly kind: 'run'; readonly count: number; readonly options?: unknown } | { readonly kind: 'costs' };

export interface ProcessCosts {
  /** The total since the process started. */
  readonly cpuMicroseconds: number;
  readonly residentBytes: number;
  /** 0 if they are not counted. */
  readonly roundTrips: number;
}

export type Reply =
  | { readonly kind: 'ready'; readonly url?: string }
  | { readonly kind: 'done'; readonly result: unknown }
  | ({ readonly kind: 'costs' } & ProcessCosts);

/** A contender (a program to compare) that is ready. `run` is absent if the contender finds its work by itself. */
export interface Prepared {
  readonly url?: string;
  run?(count: number, options: never): Promise<unknown>;
}

/** Runs a contender in this child process. An error ends the process, so that the parent notices. */
export function takePart(prepare: (request: ContenderRequest) => Promise<Prepared>): void {
  const reply = (message: Reply) => process.send?.(message);
  process.once('message', (request: ContenderRequest) => {
    const trips = request.countsRoundTrips === true ? new RoundTrips() : undefined;
    void prepare(request).then((prepared) => {
      process.on('message', (command: ContenderCommand) => {
        if (command.kind === 'costs') reply({ kind: 'costs', ...costs(), roundTrips: trips?.count ?? 0 });
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

function costs(): Omit<ProcessCosts, 'roundTrips'> {
  const { user, system } = process.cpuUsage();
  return { cpuMicroseconds: user + system, residentBytes: process.memoryUsage.rss() };
}
