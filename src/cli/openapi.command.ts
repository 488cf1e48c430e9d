import { readFile, writeFile } from 'node:fs/promises';
import { NestFactory } from '@nestjs/core';
import type { OpenAPIObject } from '@nestjs/swagger';
import { Command } from 'commander';
import { AppModule } from '../app.module.js';
import { readEnvironment } from '../platform/env/read-environment.js';
import { setPrefix } from '../platform/http/configure-http.js';
import { createHttpAdapter } from '../platform/http/http-adapter.js';
import { createDocument } from '../platform/openapi/document.js';
import type { RecordedExamples } from '../platform/openapi/examples.js';
import { printError } from './print.js';

const ROOT = new URL('../../', import.meta.url);
const DOCUMENT = new URL('openapi.json', ROOT);
const EXAMPLES = new URL('docs/examples.json', ROOT);

/** Never used for a connection: the application is assembled but not started. */
const PLACEHOLDERS = {
  DATABASE_URL: 'postgresql://nowhere.invalid/none',
  SCS_BASE_URL: 'https://nowhere.invalid',
  SCS_API_KEY: 'placeholder',
  SCS_CLIENT_ID: 'placeholder',
  SCS_CLIENT_SECRET: 'placeholder',
  ADMIN_API_KEY: 'placeholder'.repeat(3),
  ENCRYPTION_KEYS: Buffer.alloc(32).toString('base64'),
  LOG_FORMAT: 'pretty',
};

/** `openapi` writes openapi.json from the controllers and docs/examples.json; `openapi --check` only reports whether it is up to date. */
export function openapiCommand(): Command {
  return new Command('openapi')
    .description('write openapi.json from the controllers and the recorded examples')
    .option('--check', 'write nothing, and exit with 1 when the file is not up to date')
    .action(async ({ check }: { check?: boolean }) => {
      const current = `${JSON.stringify(await documentOfCode(), null, 2)}\n`;
      if (!check) {
        await writeFile(DOCUMENT, current);
      } else if ((await readFile(DOCUMENT, 'utf8').catch(() => '')) !== current) {
        printError('openapi.json is not what the code says: run `npm run openapi` and commit the difference');
        process.exitCode = 1;
      }
    });
}

async function documentOfCode(): Promise<OpenAPIObject> {
  const examples = JSON.parse(await readFile(EXAMPLES, 'utf8')) as RecordedExamples;
  const environment = readEnvironment(PLACEHOLDERS);
  const app = await NestFactory.create(AppModule.forRoot(environment), createHttpAdapter(), {
    logger: false,
    abortOnError: false,
  });
  setPrefix(app);
  return createDocument(app, examples);
}
