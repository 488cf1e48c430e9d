import type { ServerResponse } from 'node:http';

/**
 * How long a reader may leave us waiting. What it has not read meanwhile is a few kilobytes here and what its own kernel holds;
 * it loses nothing by being cut, since it resumes where it was.
 */
const DRAIN_WITHIN_MS = 8_000;
/** For the last bytes of a stream that is ended; the stop of the process waits for this. */
const END_WITHIN_MS = 1_000;

/** Writes to a reader no faster than it reads, so that one that does not read costs next to nothing. */
export class StreamOutput {
  constructor(private readonly response: ServerResponse) {
    // The end of the connection is told by 'close'; without a handler of its own, an error would end the process.
    response.on('error', () => {});
  }

  onClose(listener: () => void): void {
    this.response.once('close', listener);
  }

  /** Resolves to whether the reader has room for more: `false` when it had none for too long, or `signal` aborted meanwhile. */
  async write(text: string, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    if (this.response.write(text)) return true;
    return new Promise((resolve) => {
      const settle = (hasRoom: boolean): void => {
        clearTimeout(timeout);
        this.response.off('drain', drained);
        signal.removeEventListener('abort', aborted);
        resolve(hasRoom);
      };
      const drained = (): void => settle(true);
      const aborted = (): void => settle(false);
      const timeout = setTimeout(aborted, DRAIN_WITHIN_MS);
      this.response.once('drain', drained);
      signal.addEventListener('abort', aborted);
    });
  }

  /** In good order, which tells the reader that nothing is cut off; resolves when it has everything, or is cut after all. */
  async end(): Promise<void> {
    await new Promise<void>((resolve) => {
      const timeout = setTimeout(resolve, END_WITHIN_MS);
      this.response.once('close', resolve).end(() => {
        clearTimeout(timeout);
        resolve();
      });
    });
    this.cut();
  }

  cut(): void {
    if (!this.response.writableFinished) this.response.destroy();
  }
}
