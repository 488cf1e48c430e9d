import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, sep } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
};

/** Matches an Accept-Encoding that has gzip, unless it is refused by a weight of 0. */
const TAKES_GZIP = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i;

/** A file in memory, which is the same for every caller. */
export class StaticFile {
  readonly type: string;
  /** Weak: the compressed body has the same. */
  readonly etag: string;
  private compressed: Promise<Buffer> | undefined;

  constructor(
    name: string,
    readonly body: Buffer,
  ) {
    this.type = TYPES[extname(name)]!;
    this.etag = `W/"${createHash('sha256').update(body).digest('base64url')}"`;
  }

  /** Responds with the file, or with 304 if the caller has it. Compresses it at the first request, outside the main thread. */
  async send(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    void reply.headers({ etag: this.etag, vary: 'accept-encoding' });
    if (isKnown(request.headers['if-none-match'], this.etag)) return void reply.status(304).send();
    void reply.header('content-type', this.type);
    if (!TAKES_GZIP.test(String(request.headers['accept-encoding']))) return void reply.send(this.body);
    this.compressed ??= promisify(gzip)(this.body);
    void reply.header('content-encoding', 'gzip').send(await this.compressed);
  }
}

/** Reads the files of a folder, by their path in it; none if there is no folder. Leaves out files of other types, and hidden folders. */
export function readStaticFiles(
  folder: string,
  change = (_path: string, body: Buffer): Buffer => body,
): Map<string, StaticFile> {
  const paths = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : [];
  return new Map(
    paths
      .filter((path) => extname(path) in TYPES && !path.startsWith('.'))
      .map((path) => {
        const body = change(path, readFileSync(join(folder, path)));
        return [path.replaceAll(sep, '/'), new StaticFile(path, body)];
      }),
  );
}

/** Returns whether a caller has this version (RFC 9110, section 13.1.2). A proxy may have removed the mark of a weak tag. */
function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  const tags = (ifNoneMatch ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes('*') || tags.includes(etag.replace(/^W\//, ''));
}
