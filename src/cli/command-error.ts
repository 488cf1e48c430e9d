/** A command that was refused or failed. The message is for people and contains no secret. */
export class CommandError extends Error {
  constructor(
    /** The `code` of the problem, or a code of the command line itself, such as `unreachable`. */
    readonly code: string,
    message: string,
    /** 1 if the command was refused or failed, 2 if it was used wrongly. */
    readonly exitCode: 1 | 2 = 1,
    /** What `--json` prints. */
    readonly problem: object = { code, detail: message },
  ) {
    super(message);
  }
}
