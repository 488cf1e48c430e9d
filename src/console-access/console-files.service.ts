import { fileURLToPath } from 'node:url';
import { Injectable } from '@nestjs/common';
import { Environment } from '../platform/env/environment.js';
import { pathPrefixOf } from '../platform/http/origins.rules.js';
import { readStaticFiles, StaticFile } from '../platform/http/static-file.js';

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
  private files: ReadonlyMap<string, StaticFile> | undefined;

  constructor({ PUBLIC_URL }: Environment) {
    this.prefix = pathPrefixOf(PUBLIC_URL);
  }

  /** Returns a file by its path below the folder, such as `assets/index-4f2a.js`. */
  find(path: string): StaticFile | undefined {
    this.files ??= readStaticFiles(this.folder, (name, body) =>
      name === 'index.html' ? withPrefix(body, this.prefix) : body,
    );
    return this.files.get(path);
  }

  /** Returns the page of the console, which shows every client route. */
  get index(): StaticFile {
    return this.find('index.html') ?? new StaticFile('index.html', Buffer.from(NOT_BUILT));
  }
}

/** The page is shown at paths of any depth, so its links are absolute, and it has to know the path of PUBLIC_URL. */
const withPrefix = (page: Buffer, prefix: string): Buffer =>
  Buffer.from(
    page
      .toString('utf8')
      .replaceAll('="./', `="${prefix}/console/`)
      .replace('name="path-prefix" content=""', `name="path-prefix" content="${prefix}"`),
  );
