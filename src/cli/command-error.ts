export type ExitCode = 1 | 2 | 3 | 130;

/** A command that was refused or failed. The message is for people and contains no secret. */
export class CommandError extends Error {
  constructor(
    /** The `code` of the problem, or a code of the command line itself, such as `unreachable`. */
    readonly code: string,
    message: string,
    /** The exit code, as docs/command-line.md describes it. */
    readonly exitCode: ExitCode = 1,
    /** The problem that `--json` prints. */
    readonly problem: object = { code, detail: message },
  ) {
    super(message);
  }
}
