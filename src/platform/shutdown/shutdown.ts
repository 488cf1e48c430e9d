export interface ShutdownStep {
  readonly name: string;
  stop(): Promise<void>;
}

/** Orchestrators kill a process after a while (Docker after 10 s); an orderly shutdown ends well before. */
const DEADLINE_MS = 4_800;

/** Stops the steps once, in reverse order, and ends the process. The first non-zero exit code wins. */
export class Shutdown {
  private readonly steps: ShutdownStep[] = [];
  private running = false;
  private exitCode = 0;

  constructor(
    private readonly say: (line: string) => void,
    private readonly exit: (code: number) => void,
  ) {}

  add(step: ShutdownStep): void {
    this.steps.push(step);
  }

  get isRunning(): boolean {
    return this.running;
  }

  async run(exitCode: number): Promise<void> {
    this.exitCode ||= exitCode;
    if (this.running) return;
    this.running = true;
    let current = '';
    const deadline = setTimeout(() => {
      this.say(`stopping took too long at: ${current}`);
      this.exit(1);
    }, DEADLINE_MS);
    for (const step of this.steps.reverse()) {
      current = step.name;
      try {
        await step.stop();
      } catch (error) {
        this.say(
          `${step.name} did not stop cleanly: ${error instanceof Error ? error.message : String(error)}`,
        );
        this.exitCode ||= 1;
      }
    }
    clearTimeout(deadline);
    this.exit(this.exitCode);
  }
}
