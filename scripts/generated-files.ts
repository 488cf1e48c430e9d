import 'reflect-metadata';
import { readFile, writeFile } from 'node:fs/promises';
import { AppModule } from '../src/app.module.js';
import type { Description } from '../src/cli/api/operation.rules.js';
import { alertsFile } from './alerts.js';
import { asyncapiDocument } from './asyncapi/document.js';
import { OPENAPI_SCHEMAS, schemaDocument } from './asyncapi/schemas.js';
import { readEnvironment, STAND_INS } from '../src/platform/env/read-environment.js';
import { createApp } from '../src/platform/http/create-app.js';
import { withCommandTable } from './openapi/command-table.js';
import { createDocument } from './openapi/document.js';
import type { RecordedExamples } from './openapi/operations.js';

// Writes the files that are generated from the source. The first argument is `openapi`, `asyncapi` or `alerts`. With --check, only
// compares the files.

const COMMAND_LINE = 'docs/command-line.md';

const [name = '', flag] = process.argv.slice(2);
const WRITERS: Record<string, () => Record<string, unknown> | Promise<Record<string, unknown>>> = {
  openapi,
  asyncapi,
  alerts: alertsFile,
};
for (const [path, document] of Object.entries(await WRITERS[name]!())) {
  const wanted = typeof document === 'string' ? document : `${JSON.stringify(document, null, 2)}\n`;
  if (flag !== '--check') await writeFile(path, wanted);
  else if ((await readFile(path, 'utf8')) !== wanted) {
    console.error(`${path} is not up to date: run \`npm run ${name}\` and commit the difference`);
    process.exitCode = 1;
  }
}

/** Creates the application without starting it, and returns its OpenAPI document, and the page with the commands of its operations. */
async function openapi() {
  const examples = JSON.parse(await readFile('docs/openapi/examples.json', 'utf8')) as RecordedExamples;
  const environment = readEnvironment(STAND_INS);
  const app = await createApp(AppModule.forRoot(environment), environment, false);
  const document = createDocument(app, examples, OPENAPI_SCHEMAS);
  const written = JSON.parse(JSON.stringify(document)) as Description;
  const page = await readFile(COMMAND_LINE, 'utf8');
  return { 'openapi.json': document, [COMMAND_LINE]: withCommandTable(page, written) };
}

function asyncapi() {
  return { 'asyncapi.json': asyncapiDocument(), 'docs/events.schema.json': schemaDocument() };
}
