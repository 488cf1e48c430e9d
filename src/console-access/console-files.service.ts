import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { Injectable } from '@nestjs/common';
import { Environment } from '../platform/env/environment.js';
import { pathPrefixOf } from '../platform/http/origins.rules.js';

interface ConsoleFile {
  readonly type: string;
  readonly body: Buffer;
  readonly gzipped: Buffer;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
};

const NOT_BUILT = `<!doctype html>
<html lang="en">
  <head><meta charset="utf-8" /><title>PV Onboarding</title></head>
  <body><h1>The console is not built</h1><p>Run <code>npm run build</code>, then restart the service.</p></body>
</html>
`;

/** The files of `dist/console`, read into memory at the first request. No path leads to any other file. */
@Injectable()
export class ConsoleFiles {
  folder = fileURLToPath(new URL('../../dist/console', import.meta.url));
  private readonly prefix: string;
  private files: ReadonlyMap<string, ConsoleFile> | undefined;

  constructor({ PUBLIC_URL }: Environment) {
    this.prefix = pathPrefixOf(PUBLIC_URL);
  }

  /** Returns a file by its path below the folder, such as `assets/index-4f2a.js`. */
  find(path: string): ConsoleFile | undefined {
    this.files ??= readFiles(this.folder, this.prefix);
    return this.files.get(path);
  }

  /** Returns the page of the console, which shows every client route. */
  get index(): ConsoleFile {
    return this.find('index.html') ?? toFile('index.html', Buffer.from(NOT_BUILT));
  }
}

function readFiles(folder: string, prefix: string): Map<string, ConsoleFile> {
  const paths = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : [];
  const files = paths.filter((path) => extname(path) in TYPES);
  return new Map(
    files.map((path) => {
      const body = readFileSync(join(folder, path));
      return [
        path.replaceAll(sep, '/'),
        toFile(path, path === 'index.html' ? withPrefix(body, prefix) : body),
      ];
    }),
  );
}

/** The page is shown at paths of any depth, so its links are absolute, and it has to know the path of PUBLIC_URL. */
const withPrefix = (page: Buffer, prefix: string): Buffer =>
  Buffer.from(
    page
      .toString('utf8')
      .replaceAll('="./', `="${prefix}/console/`)
      .replace('name="path-prefix" content=""', `name="path-prefix" content="${prefix}"`),
  );

const toFile = (path: string, body: Buffer): ConsoleFile => ({
  type: TYPES[extname(path)]!,
  body,
  gzipped: gzipSync(body),
});
