import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** A child process. Separate processes share no heap, no compiled code and no event loop. */
export class BenchProcess {
  private constructor(
    private readonly child: ChildProcess,
    private readonly name: string,
  ) {}

  static start(script: URL, flags: readonly string[] = []): BenchProcess {
    const file = fileURLToPath(script);
    const child = spawn(process.execPath, [...process.execArgv, ...flags, file], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    return new BenchProcess(child, file.slice(file.lastIndexOf('/') + 1));
  }

  ask<Answer>(message: object, is: (answer: Answer) => boolean): Promise<Answer> {
    const answer = this.next(is);
    this.child.send(message);
    return answer;
  }

  send(message: object): void {
    this.child.send(message);
  }

  next<Answer>(is: (answer: Answer) => boolean): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const settle = (end: () => void) => {
        this.child.off('message', onMessage);
        this.child.off('exit', onExit);
        end();
      };
      const onMessage = (answer: Answer) => is(answer) && settle(() => resolve(answer));
      const onExit = () => settle(() => reject(new Error(`${this.name} has ended`)));
      this.child.on('message', onMessage);
      this.child.on('exit', onExit);
    });
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null) return;
    const gone = new Promise<void>((resolve) => this.child.once('exit', () => resolve()));
    this.child.disconnect();
    await gone;
  }
}
