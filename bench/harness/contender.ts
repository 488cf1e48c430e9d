/** What a process that takes part answers when it is asked for its CPU time. */
export interface Reply {
  readonly kind: 'ready' | 'done' | 'cpu';
  readonly cpuMicroseconds?: number;
}

/** What it is started with; by message, because `DATABASE_URL` holds a password. */
export interface ContenderRequest {
  readonly remoteUrl: string;
  readonly databaseUrl: string;
  /** Reads at once. */
  readonly concurrency: number;
}

export type ContenderCommand = { readonly kind: 'run'; readonly reads: number } | { readonly kind: 'cpu' };

/** The child's side. `start` prepares and answers what one round does. */
export function takePart(
  start: (request: ContenderRequest) => Promise<(reads: number) => Promise<void>>,
): void {
  const reply = (message: Reply) => process.send?.(message);
  process.once('message', (request: ContenderRequest) => {
    void start(request).then((run) => {
      process.on('message', (command: ContenderCommand) => {
        if (command.kind === 'run') void run(command.reads).then(() => reply({ kind: 'done' }));
        else {
          const { user, system } = process.cpuUsage();
          reply({ kind: 'cpu', cpuMicroseconds: user + system });
        }
      });
      reply({ kind: 'ready' });
    });
  });
  process.once('disconnect', () => process.exit(0));
}
