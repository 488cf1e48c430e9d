import type { Readable } from 'node:stream';
import { Busboy, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy';
import type { FastifyRequest } from 'fastify';
import { invalidRequest } from '../../platform/http/validation.js';
import { Problem } from '../../platform/problem/problem.js';

type Headers = FastifyRequest['headers'];

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
  const file = isForm ? await fileOfForm(headers as BusboyHeaders, body) : body;
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

async function fileOfForm(headers: BusboyHeaders, body: Readable): Promise<Readable> {
  let form: BusboyInstance;
  try {
    form = new Busboy({ headers, limits: { files: 1, fields: 10, fieldSize: 1_000 } });
  } catch {
    throw invalidRequest([{ field: 'Content-Type', message: 'has no boundary' }]);
  }
  return new Promise((resolve, reject) => {
    let file: Readable | undefined;
    const fail = (error: Error): void => {
      file?.destroy(error);
      reject(cut(error));
    };
    form.once('file', (_name, stream) => {
      // Whoever reads the file learns of its errors. It may have been read already.
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
