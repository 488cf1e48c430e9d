import { redact } from '../../../platform/redaction/redaction.js';
import { HIDDEN } from '../../../platform/redaction/secrets.js';

/** How much of a body is shown to people. */
const KEPT_BYTES = 1_024;
/** A body up to this size is read completely, so that its connection can be reused. Of a longer one no more than this is read. */
const READ_BYTES = 65_536;
/** Shorter values are common words that appear in any response. */
const SHORTEST_SECRET = 6;

export interface AnswerText {
  /** Null if there is no body, or none that can be shown. */
  readonly text: string | null;
  /** Whether the body was read to its end. */
  readonly isWhole: boolean;
}

/** Reads the beginning of a body as redacted text. The receiver may quote the headers that it was sent. */
export async function readAnswerText(
  body: AsyncIterable<Buffer>,
  encoding: string | undefined,
  secrets: readonly string[],
): Promise<AnswerText> {
  const kept: Buffer[] = [];
  let size = 0;
  let isWhole = false;
  try {
    for await (const chunk of body) {
      if (size < KEPT_BYTES) kept.push(chunk);
      size += chunk.length;
      if (size > READ_BYTES) break;
    }
    isWhole = size <= READ_BYTES;
  } catch {
    // The connection was cut; show what has arrived.
  }
  // We asked for no encoding. A compressed body may be a decompression bomb.
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') return { text: null, isWhole };
  const bytes = Buffer.concat(kept).subarray(0, KEPT_BYTES);
  const text = safeText(bytes, secrets);
  return { text: text === '' ? null : text, isWhole };
}

function safeText(bytes: Buffer, secrets: readonly string[]): string {
  // The decoder never returns a lone surrogate, which PostgreSQL would reject. `redact` removes control characters.
  let text = new TextDecoder().decode(bytes);
  for (const secret of secrets) if (secret.length >= SHORTEST_SECRET) text = text.replaceAll(secret, HIDDEN);
  return redact(text, KEPT_BYTES);
}
