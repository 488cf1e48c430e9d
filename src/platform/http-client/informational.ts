import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';
import { MAX_HEADER_BYTES } from './response-limits.js';

/** Where the status code starts in `HTTP/1.1 200 OK`. */
const STATUS_AT = 9;
const ONE = 0x31;
/** Matches complete 1xx responses at the start, except 101, which undici handles. */
const INFORMATIONAL = /^(?:HTTP\/1\.\d 1(?!01)\d\d[^]*?\r?\n\r?\n)*/;
/** Matches input that may be the beginning of a 1xx response. */
const UNDECIDED = /^(?:[^]{0,9}|[^]{9}1[^]?|HTTP\/1\.\d 1(?!01)\d\d[^]*)$/;
const NOTHING = Buffer.alloc(0);

/**
 * Returns a connector whose sockets skip 1xx responses. RFC 9110, section 15.2, allows them, but undici 7 closes the connection at a 100 that
 * it has not requested and has no option for it. Without this, a registration whose response follows a 100 would become `uncertain`.
 * Optional: connections.ts can use `connect` itself. test/e2e/remote/responses.spec.ts fails as long as undici needs this.
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

/** Makes `socket.read` skip 1xx responses. Relies on undici to write no request before it has read the whole previous response. */
function skipOn(socket: Socket): void {
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null;
  /** `bytesWritten` when the final response to the last request began. */
  let responseAt = 0;
  let held: Buffer = NOTHING;
  let skipped = 0;
  socket.read = (size?: number): Buffer | null => {
    for (;;) {
      const chunk = read(size);
      // No request was written since the final response began, so this chunk continues the response.
      if (chunk === null || socket.bytesWritten === responseAt) return chunk;
      held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      if (held.length <= STATUS_AT || held[STATUS_AT] === ONE) {
        const text = held.toString('latin1', 0, MAX_HEADER_BYTES);
        const { length } = INFORMATIONAL.exec(text)![0];
        held = held.subarray(length);
        skipped += length;
        if (UNDECIDED.test(text.slice(length)) && skipped + held.length <= MAX_HEADER_BYTES) continue;
      }
      const response = held;
      responseAt = socket.bytesWritten;
      held = NOTHING;
      skipped = 0;
      return response;
    }
  };
}
