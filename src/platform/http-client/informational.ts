import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';

/** Start and end of the status in `HTTP/1.1 200 OK`. */
const STATUS_AT = 9;
const STATUS_END = 12;
const ONE = 0x31;
/** Matches whole heads of 1xx, one after the other. undici handles 101: it ends HTTP on the connection, and we never request it. */
const INFORMATIONAL = /^(?:HTTP\/1\.\d 1(?!01)\d\d[^]*?\r?\n\r?\n)*/;
const BEGINNING = /^HTTP\/1\.\d 1(?!01)\d\d/;
/** The size that undici accepts for one head; beyond it the bytes are passed on to undici. */
const MAX_BYTES = 16_384;
const NOTHING = Buffer.alloc(0);

/**
 * Returns a connector whose sockets skip informational (1xx) responses. A server may send any number of them before its response, even if
 * the request did not ask for one (RFC 9110, section 15.2); undici fails the request when an unsolicited 100 arrives. They do not extend
 * the deadline.
 */
export function skippingInformational(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) =>
    connect(options, (...result) => {
      const [, socket] = result;
      // On failure, undici passes only an error.
      if (socket) skipOn(socket);
      callback(...result);
    });
}

/** Filters `read()`, with which undici reads the socket. undici writes the next request only after it has read the whole response. */
function skipOn(socket: Socket): void {
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null;
  let answeredAt = 0;
  let held: Buffer = NOTHING;
  let skipped = 0;
  socket.read = (size?: number): Buffer | null => {
    for (;;) {
      const chunk = read(size);
      // Nothing was written since the response began, so this chunk belongs to it.
      if (chunk === null || socket.bytesWritten === answeredAt) return chunk;
      const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      held = bytes.subarray(lengthOfInformational(bytes));
      skipped += bytes.length - held.length;
      if (isUndecided(held) && skipped + held.length <= MAX_BYTES) continue;
      const response = held;
      answeredAt = socket.bytesWritten;
      held = NOTHING;
      skipped = 0;
      return response;
    }
  };
}

/** Returns the length in bytes of the complete informational responses at the beginning. */
function lengthOfInformational(bytes: Buffer): number {
  if (bytes[STATUS_AT] !== ONE) return 0;
  return INFORMATIONAL.exec(bytes.toString('latin1', 0, MAX_BYTES))?.[0].length ?? 0;
}

/** Returns true while the next bytes may still belong to an informational response. */
function isUndecided(bytes: Buffer): boolean {
  if (bytes.length > STATUS_AT && bytes[STATUS_AT] !== ONE) return false;
  return bytes.length < STATUS_END || BEGINNING.test(bytes.toString('latin1', 0, STATUS_END));
}
