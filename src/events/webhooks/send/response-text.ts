import { redact } from '../../../platform/redaction/redaction.js';
import { HIDDEN } from '../../../platform/redaction/secrets.js';

/** What people get to see of an answer. */
const KEPT_BYTES = 1_024;
/** An answer up to this size is read to its end, so that its connection can be used again; a longer one costs us no more than this. */
const READ_BYTES = 65_536;
/** Shorter values are words that stand in any answer. */
const SHORTEST_SECRET = 6;

export interface AnswerText {
  /** Null when there is no body, or none that can be shown. */
  readonly text: string | null;
  /** Whether it was read to its end. */
  readonly isWhole: boolean;
}

/** Reads the beginning of a body, as text without secrets: the receiver may quote the headers that it was sent. */
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
    // Cut off; what has come is shown all the same.
  }
  // It was asked for as it is; what is compressed all the same might be a bomb.
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') return { text: null, isWhole };
  const bytes = Buffer.concat(kept).subarray(0, KEPT_BYTES);
  const text = safeText(bytes, secrets);
  return { text: text === '' ? null : text, isWhole };
}

function safeText(bytes: Buffer, secrets: readonly string[]): string {
  // Never yields a lone surrogate, which PostgreSQL would refuse; control characters go with the redaction.
  let text = new TextDecoder().decode(bytes);
  for (const secret of secrets) if (secret.length >= SHORTEST_SECRET) text = text.replaceAll(secret, HIDDEN);
  return redact(text, KEPT_BYTES);
}
