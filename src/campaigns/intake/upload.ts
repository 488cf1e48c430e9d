import { Readable } from 'node:stream';
import { Busboy, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy';
import type { FastifyRequest } from 'fastify';
import { charsetOf } from '../../platform/http/file-body.js';
import { invalidRequest } from '../../platform/http/validation.js';
import { Problem } from '../../platform/problem/problem.js';
import type { CampaignFormat } from '../campaign.rules.js';

type Headers = FastifyRequest['headers'];

/**
 * The time that every upload may take. A longer upload must exceed a minimum rate, so that a slow client cannot occupy its place for hours.
 */
const GRACE_MS = 60_000;
const BYTES_PER_MS = 16;

/** The encodings by the names of charsets (IANA). Null: the encoding is detected. */
const CHARSETS: Readonly<Record<string, CampaignFormat['encoding'] | null>> = {
  'utf-8': 'utf-8',
  utf8: 'utf-8',
  'utf-16le': 'utf-16le',
  'utf-16be': 'utf-16be',
  // Its byte order mark decides.
  'utf-16': null,
  // Some programs name these by default, whatever they send. UTF-8 and Windows-1252 are told apart by their bytes.
  'us-ascii': null,
  'iso-8859-1': null,
  latin1: null,
  'windows-1252': null,
  cp1252: null,
  ibm850: 'cp850',
  cp850: 'cp850',
  macintosh: 'macintosh',
};

/** Returns the encoding that the Content-Type names, or null if it has to be detected. Throws Problem if it is none that can be read. */
export function statedEncoding(headers: Headers): CampaignFormat['encoding'] | null {
  const charset = charsetOf(headers)?.toLowerCase();
  if (charset === undefined) return null;
  if (!Object.hasOwn(CHARSETS, charset))
    throw new Problem(
      'unsupported_media_type',
      `The charset of the Content-Type must be one of ${Object.keys(CHARSETS).join(', ')}`,
    );
  return CHARSETS[charset]!;
}

/** Refuses an upload by its headers, before the first byte is read. */
export function refuseUpload(headers: Headers, maxBytes: number): void {
  if (Number(headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
}

/**
 * Returns the bytes of the file in a body. The file is the body itself, or the only file of a form. Ends once the whole form is checked.
 * Reads the file as fast as the caller takes its bytes. If the caller stops early, discards the rest.
 */
export async function* bytesOf(
  headers: Headers,
  body: Readable,
  maxBytes: number,
): AsyncGenerator<Buffer, void> {
  const received = receivedBytes(body, maxBytes);
  if (!/^multipart\//i.test(headers['content-type'] ?? '')) return yield* received;
  const source = Readable.from(received, { objectMode: false });
  try {
    const { file, end } = await openForm(headers as BusboyHeaders, source);
    for await (const bytes of file as AsyncIterable<Buffer>) yield bytes;
    await end;
  } catch (error) {
    throw cut(error);
  } finally {
    source.unpipe();
    source.destroy();
  }
}

/** Returns the bytes of a body. Throws Problem if they are too many, come too slowly, or end early. */
async function* receivedBytes(body: Readable, maxBytes: number): AsyncGenerator<Buffer, void> {
  let length = 0;
  let waitedMs = 0;
  try {
    let askedAt = performance.now();
    for await (const bytes of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      length += bytes.length;
      // Excludes the time that the database takes for the rows: the client is not to blame for it.
      waitedMs += performance.now() - askedAt;
      if (length > maxBytes) throw tooLarge(maxBytes);
      if (waitedMs > GRACE_MS + length / BYTES_PER_MS) throw tooSlow();
      yield bytes;
      askedAt = performance.now();
    }
  } catch (error) {
    throw body.errored === null ? error : cut(error);
  } finally {
    // The server discards the rest, so that the client can read the response.
    body.resume();
  }
}

interface Form {
  readonly file: Readable;
  /** Rejects if the form is at fault, also after its file. */
  readonly end: Promise<void>;
}

/** Reads a form as far as its file. Throws Problem if it has none. */
async function openForm(headers: BusboyHeaders, source: Readable): Promise<Form> {
  let form: BusboyInstance;
  try {
    form = new Busboy({ headers, limits: { files: 2, fields: 10, fieldSize: 1_000 } });
  } catch {
    throw invalidRequest([{ field: 'Content-Type', message: 'has no boundary' }]);
  }
  let first: Readable | undefined;
  const file = new Promise<Readable>((resolve) => {
    form.on('file', (field, stream, name) => {
      stream.on('error', () => {});
      if (first === undefined) return resolve((first = stream));
      stream.resume();
      const message = `is a second file ("${name.slice(0, 100)}"): send each file as a campaign of its own`;
      form.emit('error', invalidRequest([{ field, message }]));
    });
  });
  form.on('field', (field) => {
    const message = 'is a field, not a file: settings stand in the query, such as ?dryRun=true';
    form.emit('error', invalidRequest([{ field, message }]));
  });
  const end = new Promise<void>((resolve, reject) => {
    form.once('finish', resolve);
    form.on('error', (error) => {
      const problem = cut(error);
      source.unpipe(form);
      first?.destroy(problem);
      reject(problem);
    });
  });
  // Prevents an unhandled rejection, because the reader of the file may stop before it awaits `end`.
  end.catch(() => {});
  source.on('error', (error) => form.emit('error', error)).pipe(form);
  const isWithout = end.then(() => {
    throw new Problem('campaign_empty', 'The form has no file');
  });
  return { file: await Promise.race([file, isWithout]), end };
}

const cut = (error: unknown): Problem =>
  error instanceof Problem
    ? error
    : new Problem('campaign_unreadable', 'The upload ended before the end of the file: send it again');

const tooLarge = (maxBytes: number): Problem =>
  new Problem(
    'body_too_large',
    `A file has at most ${maxBytes} bytes (CAMPAIGN_MAX_BYTES): split it into several campaigns, with all rows of a customer in the same one`,
  );

const tooSlow = (): Problem =>
  new Problem(
    'request_timeout',
    `After ${GRACE_MS / 1_000} s, a file must arrive with ${BYTES_PER_MS} kB per second on average`,
  );
