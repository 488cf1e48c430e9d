import { spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A process that ends with ours, however ours ends: it stops when the channel to our process closes. */
export interface Child {
  /** The URL where it listens. */
  readonly url: string;
  readonly pid: number;
  /** Settles when the process has ended; `true` if `stop` was called. */
  readonly exited: Promise<boolean>;
  /** Asks the process to stop and waits; kills it after `FORCE_AFTER_MS`. */
  stop(): Promise<void>;
}

export interface ChildOptions {
  /** Used in messages, such as `embedded PostgreSQL`. */
  readonly name: string;
  readonly script: URL;
  readonly env?: NodeJS.ProcessEnv;
  /** Node's own flags. Default: ours. */
  readonly execArgv?: readonly string[];
  /** The first message on the channel. Secrets go here, because every user can read a command line. */
  readonly request?: object;
  /** Receives the output of the process. Default: the output is discarded. */
  readonly logFile?: string;
  readonly readyWithinMs?: number;
}

type Report = { type: 'ready'; url: string } | { type: 'failed'; message: string };

const READY_WITHIN_MS = 60_000;
const FORCE_AFTER_MS = 8_000;

/**
 * Starts `script` and waits for its `{ type: 'ready', url }`. The process gets its own session: a Ctrl-C reaches the whole process group of
 * the terminal at once, and our dependencies must outlive our draining.
 */
export async function startChild(options: ChildOptions): Promise<Child> {
  const output = options.logFile === undefined ? 'ignore' : openSync(options.logFile, 'a', 0o600);
  const flags = options.execArgv ?? process.execArgv.filter((flag) => !flag.startsWith('--inspect'));
  const child = spawn(process.execPath, [...flags, fileURLToPath(options.script)], {
    detached: true,
    // With this variable from `node --watch`, the child would report every file that it loads, on the same channel as its own messages.
    env: { ...(options.env ?? process.env), WATCH_REPORT_DEPENDENCIES: undefined },
    stdio: ['ignore', output, output, 'ipc'],
  });
  let stopping = false;
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const exited = gone.then(() => stopping);

  const stop = async (): Promise<void> => {
    stopping = true;
    if (child.connected) child.disconnect();
    const force = setTimeout(() => child.kill('SIGKILL'), FORCE_AFTER_MS);
    await gone;
    clearTimeout(force);
  };

  try {
    const url = await new Promise<string>((resolve, reject) => {
      const log = options.logFile === undefined ? '' : `; its log is ${options.logFile}`;
      const fail = (why: string) => reject(new Error(`${options.name} did not start: ${why}${log}`));
      const deadline = setTimeout(() => fail('it took too long'), options.readyWithinMs ?? READY_WITHIN_MS);
      child.once('error', (error) => fail(error.message));
      child.once('exit', (code, signal) => fail(`it ended with ${signal ?? `code ${code}`}`));
      child.on('message', (report: Report) => {
        clearTimeout(deadline);
        if (report.type === 'ready') resolve(report.url);
        else fail(report.message);
      });
      if (options.request !== undefined) child.send(options.request);
    });
    // Neither the process nor the channel keeps our process alive.
    child.unref();
    child.channel?.unref();
    return { url, pid: child.pid ?? 0, exited, stop };
  } catch (error) {
    if (child.pid !== undefined) await stop();
    throw error;
  }
}
