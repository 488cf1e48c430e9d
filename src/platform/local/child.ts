import { spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A process of ours that ends with us, however we end: it stops when the channel to us closes. */
export interface Child {
  /** Where it listens. */
  readonly url: string;
  readonly pid: number;
  /** Settles when the process is gone; `true` when we had asked for it. */
  readonly exited: Promise<boolean>;
  /** Asks it to stop and waits; after `FORCE_AFTER_MS` it is killed. */
  stop(): Promise<void>;
}

export interface ChildOptions {
  /** For messages, such as `embedded PostgreSQL`. */
  readonly name: string;
  readonly script: URL;
  readonly env?: NodeJS.ProcessEnv;
  /** Node's own flags; ours unless given. */
  readonly execArgv?: readonly string[];
  /** Sent over the channel first; secrets go here, because a command line can be read by every user. */
  readonly request?: object;
  /** Takes what the process writes; without it that is discarded. */
  readonly logFile?: string;
  readonly readyWithinMs?: number;
}

type Report = { type: 'ready'; url: string } | { type: 'failed'; message: string };

const READY_WITHIN_MS = 60_000;
const FORCE_AFTER_MS = 8_000;

/**
 * Starts `script` and waits for its `{ type: 'ready', url }`. It gets a session of its own: a Ctrl-C reaches every process of
 * the terminal's group at once, and what we depend on must outlive our own draining.
 */
export async function startChild(options: ChildOptions): Promise<Child> {
  const output = options.logFile === undefined ? 'ignore' : openSync(options.logFile, 'a', 0o600);
  const flags = options.execArgv ?? process.execArgv.filter((flag) => !flag.startsWith('--inspect'));
  const child = spawn(process.execPath, [...flags, fileURLToPath(options.script)], {
    detached: true,
    // Set by `node --watch`, it would have the child tell us of every file it loads, as if that were its report.
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
    // Neither the process nor the channel is a reason to keep us alive.
    child.unref();
    child.channel?.unref();
    return { url, pid: child.pid ?? 0, exited, stop };
  } catch (error) {
    if (child.pid !== undefined) await stop();
    throw error;
  }
}
