import type { CampaignFormat } from '../campaign.rules.js';

/** The characters of the bytes 0x80 to 0x9f in Windows-1252. Node decodes them as control characters in some versions. */
const WINDOWS_1252 = '€\ufffd‚ƒ„…†‡ˆ‰Š‹Œ\ufffdŽ\ufffd\ufffd‘’“”•–—˜™š›œ\ufffdžŸ';

/** Decodes the bytes of a file part by part. A byte that is no part of a character becomes U+FFFD. */
export async function* decode(
  bytes: AsyncIterable<Buffer>,
  encoding: CampaignFormat['encoding'],
): AsyncGenerator<string> {
  if (encoding === 'windows-1252') {
    for await (const part of bytes)
      yield part
        .toString('latin1')
        .replace(/[\x80-\x9f]/g, (byte) => WINDOWS_1252[byte.charCodeAt(0) - 0x80]!);
    return;
  }
  const decoder = new TextDecoder(encoding);
  for await (const part of bytes) yield decoder.decode(part, { stream: true });
  yield decoder.decode();
}
