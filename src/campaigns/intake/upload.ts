import type { Readable } from 'node:stream';
import { Busboy, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy';
import type { FastifyRequest } from 'fastify';
import { invalidRequest } from '../../platform/http/validation.js';
import { Problem } from '../../platform/problem/problem.js';

type Headers = FastifyRequest['headers'];

/** The most bytes of a form beside its file: boundaries, headers and fields. */
const FORM_BYTES = 65_536;

/** Refuses by the headers, before the first byte is read. */
export function refuseUpload(headers: Headers, maxBytes: number): void {
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity')
    throw new Problem('unsupported_media_type', `Send the file uncompressed, not as ${encoding}`);
  if (Number(headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
}

/**
 * Returns the bytes of the file in a body: the body, or the first file of a form. The file is read as fast as the caller takes its bytes.
 * Leaves the body open if the caller stops early, since the client must be able to read the response.
 */
export async function* bytesOf(
  headers: Headers,
  body: Readable,
  maxBytes: number,
): AsyncGenerator<Buffer, void> {
  const isForm = headers['content-type']?.startsWith('multipart/') === true;
  const file = isForm ? await fileOfForm(headers as BusboyHeaders, body, maxBytes) : body;
  let length = 0;
  try {
    for await (const bytes of file.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      length += bytes.length;
      if (length > maxBytes) throw tooLarge(maxBytes);
      yield bytes;
    }
  } catch (error) {
    throw file.errored === null && body.errored === null ? error : cut(error);
  } finally {
    if (file !== body) {
      body.unpipe();
      file.resume();
    }
  }
}

async function fileOfForm(headers: BusboyHeaders, body: Readable, maxBytes: number): Promise<Readable> {
  let form: BusboyInstance;
  try {
    form = new Busboy({ headers, limits: { files: 1, fields: 10, fieldSize: 1_000 } });
  } catch {
    throw invalidRequest([{ field: 'Content-Type', message: 'has no boundary' }]);
  }
  return new Promise((resolve, reject) => {
    let file: Readable | undefined;
    const fail = (error: Error): void => {
      body.unpipe(form);
      file?.destroy(error);
      reject(cut(error));
    };
    let left = maxBytes + FORM_BYTES;
    body.on('data', (bytes: Buffer) => {
      left -= bytes.length;
      if (left < 0) fail(tooLarge(maxBytes));
    });
    form.once('file', (_name, stream) => {
      // The reader of the file learns of its errors, and may have read it already.
      file = stream.on('error', () => {});
      resolve(stream);
    });
    form.on('error', fail);
    form.once('finish', () => reject(new Problem('campaign_empty', 'The form has no file')));
    body.on('error', fail);
    body.pipe(form);
  });
}

const cut = (error: unknown): Problem =>
  error instanceof Problem
    ? error
    : new Problem('campaign_unreadable', 'The upload ended before the end of the file: send it again');

const tooLarge = (maxBytes: number): Problem =>
  new Problem(
    'body_too_large',
    `A file has at most ${maxBytes} bytes (CAMPAIGN_MAX_BYTES): split it into several campaigns`,
  );
