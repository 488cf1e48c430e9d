import { Readable } from 'node:stream';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { bytesOf } from './upload.js';

afterEach(() => {
  jest.restoreAllMocks();
});

/** Reads a body whose parts each take the client `clientMs`, and returns its length. */
async function read(parts: readonly string[], clientMs: number): Promise<number> {
  let now = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  const send = async function* () {
    for (const part of parts) {
      now += clientMs;
      yield Buffer.from(part);
    }
  };
  let length = 0;
  for await (const bytes of bytesOf({}, Readable.from(send()), 10_000_000)) length += bytes.length;
  return length;
}

describe('an upload', () => {
  it('that drips is refused', async () => {
    await expect(read(['a', 'b', 'c'], 40_000)).rejects.toMatchObject({ code: 'request_timeout' });
  });

  it('may take long if it brings enough', async () => {
    const parts = Array.from({ length: 5 }, () => 'x'.repeat(800_000));
    expect(await read(parts, 40_000)).toBe(4_000_000);
  });
});
