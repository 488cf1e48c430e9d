import { spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** How long to wait for a child before killing it. PostgreSQL stops sooner. If our process exits earlier, the child stops on its own. */
const CHILD_STOP_MS = 8_000;

/** A child process that ends with ours, even if ours is killed: it stops when the IPC channel to our process closes. */
export interface Child {
  readonly url: string;
  readonly pid: number;
  /** Resolves to the name of the child if the child ends without a call to `stop`. */
  readonly failed: Promise<string>;
  /** Closes the IPC channel, so that the process stops, and waits for its end. Kills it after CHILD_STOP_MS. */
  stop(): Promise<void>;
}

export interface ChildOptions {
  /** The name in messages, such as `the sandbox`. */
  readonly name: string;
  readonly script: URL;
  readonly env?: NodeJS.ProcessEnv;
  /** Flags for Node. Default: those of our process, without --inspect. */
  readonly execArgv?: readonly string[];
  /** The first message to the child over the IPC channel. Secrets belong in it, because every user can read a command line. */
  readonly request?: object;
  /** The file for the output of the child. Default: the output is discarded. */
  readonly logFile?: string;
}

type Report = { type: 'ready'; url: string } | { type: 'failed'; message: string };

/** Starts `script` and waits for `{ type: 'ready', url }`. A detached child is not stopped by a Ctrl-C while our process drains. */
export async function startChild(options: ChildOptions): Promise<Child> {
  const output = options.logFile === undefined ? 'ignore' : openSync(options.logFile, 'a', 0o600);
  const flags = options.execArgv ?? process.execArgv.filter((flag) => !flag.startsWith('--inspect'));
  const child = spawn(process.execPath, [...flags, fileURLToPath(options.script)], {
    detached: true,
    // `node --watch` sets this variable. With it, the child would report every loaded file over the IPC channel.
    env: { ...(options.env ?? process.env), WATCH_REPORT_DEPENDENCIES: undefined },
    stdio: ['ignore', output, output, 'ipc'],
  });
  let stopping = false;
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const failed = new Promise<string>((resolve) => {
    void exited.then(() => !stopping && resolve(options.name));
  });

  const stop = async (): Promise<void> => {
    stopping = true;
    if (child.connected) child.disconnect();
    const force = setTimeout(() => child.kill('SIGKILL'), CHILD_STOP_MS);
    await exited;
    clearTimeout(force);
  };

  try {
    const url = await new Promise<string>((resolve, reject) => {
      const log = options.logFile === undefined ? '' : `; its log is ${options.logFile}`;
      const fail = (why: string) => reject(new Error(`${options.name} did not start: ${why}${log}`));
      const deadline = setTimeout(() => fail('it took too long'), 60_000);
      child.once('error', (error) => fail(error.message));
      child.once('exit', (code, signal) => fail(`it ended with ${signal ?? `code ${code}`}`));
      child.on('message', (report: Report) => {
        clearTimeout(deadline);
        if (report.type === 'ready') resolve(report.url);
        else fail(report.message);
      });
      if (options.request !== undefined) child.send(options.request);
    });
    child.unref();
    child.channel?.unref();
    return { url, pid: child.pid ?? 0, failed, stop };
  } catch (error) {
    if (child.pid !== undefined) await stop();
    throw error;
  }
}
