import type { ServerResponse } from 'node:http';

/**
 * How long to wait for a slow reader. Its unread data is a few kilobytes here plus what its own kernel buffers. Being cut costs it
 * nothing, because it resumes at its position.
 */
const DRAIN_WITHIN_MS = 8_000;
/** Time to send the last bytes of an ended stream; the shutdown waits for it. */
const END_WITHIN_MS = 1_000;

/** Writes no faster than the reader reads, so that a stalled reader costs next to nothing. */
export class StreamOutput {
  constructor(private readonly response: ServerResponse) {
    // 'close' reports the end of the connection. Without an 'error' listener, an error would end the process.
    response.on('error', () => {});
  }

  onClose(listener: () => void): void {
    this.response.once('close', listener);
  }

  /** Resolves to true when the reader can take more, or to false if it could not for too long or `signal` aborted. */
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

  /**
   * Ends the response properly, so that the reader can see it is complete. Resolves when the response is sent, or cut after a
   * timeout.
   */
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
