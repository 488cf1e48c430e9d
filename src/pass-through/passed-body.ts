import type { Readable } from 'node:stream';
import { MAX_PASSED_BYTES } from '../platform/http/http-limits.js';
import { Problem } from '../platform/problem/problem.js';

/** A body up to this size is sent only once it has arrived as a whole. So a slow caller takes no place of the calls in flight. */
const WHOLE_BYTES = 64 * 1024;

export const tooLarge = (): Problem =>
  new Problem('body_too_large', `The body must not be longer than ${MAX_PASSED_BYTES} bytes`);

/**
 * Reads the beginning of a body: all of it if it is small. The rest is read as it is sent. `mayEnd` is called before the last part is
 * sent, and rejects if the caller may no longer act: then the request is never complete.
 */
export async function beginBody(stream: Readable, mayEnd: () => Promise<void>): Promise<ArrivingBody> {
  const body = new ArrivingBody(stream, mayEnd);
  await body.begin();
  return body;
}

export class ArrivingBody {
  /** Whether the caller has not sent all of it yet. Then a timeout says nothing about the service. */
  isArriving = true;
  /** Why the rest is not sent: the body is too large, the caller has left, or may no longer act. */
  fault: unknown;
  private readonly parts: AsyncIterator<Buffer, undefined>;
  private readonly first: Buffer[] = [];
  private size = 0;

  constructor(
    private readonly stream: Readable,
    private readonly mayEnd: () => Promise<void>,
  ) {
    // The stream must outlive the iterator: destroying it would close the connection before the response.
    this.parts = stream.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer, undefined>;
  }

  /** All of the body if it has arrived, else its parts. The parts can be read once. */
  get bytes(): Buffer | AsyncIterable<Buffer> {
    return this.isArriving ? this.rest() : Buffer.concat(this.first);
  }

  /** Discards the rest of the body. Without this, it would block the connection: Node discards only a body that nobody has begun to read. */
  stop(): void {
    const discard = (): void => void this.stream.resume();
    void this.parts.return?.().then(discard, discard);
  }

  async begin(): Promise<void> {
    while (this.isArriving && this.size < WHOLE_BYTES) {
      const part = await this.next();
      if (part !== undefined) this.first.push(part);
    }
  }

  private async *rest(): AsyncGenerator<Buffer> {
    try {
      // Holds one part back, so that a request with a known length is not complete before its last part may be sent.
      let held: Buffer = Buffer.concat(this.first);
      for (let part = await this.next(); part !== undefined; part = await this.next()) {
        yield held;
        held = part;
      }
      await this.mayEnd();
      yield held;
    } catch (error) {
      this.fault ??= error;
      throw error;
    }
  }

  private async next(): Promise<Buffer | undefined> {
    const { done, value } = await this.parts.next().catch(() => {
      throw new Problem('invalid_request', 'The body has not arrived as a whole');
    });
    if (done === true) {
      this.isArriving = false;
      return undefined;
    }
    this.size += value.length;
    if (this.size > MAX_PASSED_BYTES) throw tooLarge();
    return value;
  }
}
