import { readFile, writeFile } from 'node:fs/promises';
import { Command } from 'commander';
import { asyncapiDocument } from '../events/contract/asyncapi.js';
import { OPENAPI_SCHEMAS, schemaDocument } from '../events/contract/schema-document.js';
import { readEnvironment, STAND_INS } from '../platform/env/read-environment.js';
import type { RecordedExamples } from '../platform/openapi/operations.js';
import { CommandError } from './command-error.js';

const ROOT = new URL('../../', import.meta.url);

/** Generators by file path. */
type Generators = Readonly<Record<string, () => string | Promise<string>>>;

const asJson = (document: object) => `${JSON.stringify(document, null, 2)}\n`;

export const openapiCommand = generatedFiles('openapi', 'the controllers and the recorded examples', {
  'openapi.json': openapiJson,
});

export const asyncapiCommand = generatedFiles('asyncapi', 'the catalogue of events', {
  'asyncapi.json': () => asJson(asyncapiDocument()),
  'docs/events.schema.json': () => asJson(schemaDocument()),
});

/** Returns a command that writes the files. With `--check`, it only reports files that are not up to date. */
function generatedFiles(name: string, origin: string, generators: Generators): Command {
  return new Command(name)
    .description(`write ${Object.keys(generators).join(', ')} from ${origin}`)
    .option('--check', 'write nothing, and exit with 1 if a file is not up to date')
    .action(async ({ check }: { check?: boolean }) => {
      const stale: string[] = [];
      for (const [path, generate] of Object.entries(generators)) {
        const file = new URL(path, ROOT);
        const wanted = await generate();
        if (!check) await writeFile(file, wanted);
        else if ((await readFile(file, 'utf8').catch(() => '')) !== wanted)
          stale.push(`${path} is not up to date: run \`npm run ${name}\` and commit the difference`);
      }
      if (stale.length > 0) throw new CommandError('not_up_to_date', stale.join('\n'));
    });
}

/** Returns the OpenAPI document of the assembled application, which is not started. */
async function openapiJson(): Promise<string> {
  // Imported here, since the other commands do not need the application, which takes a second to load.
  const [{ AppModule }, { createApp }, { createDocument }] = await Promise.all([
    import('../app.module.js'),
    import('../platform/http/create-app.js'),
    import('../platform/openapi/document.js'),
  ]);
  const examples = JSON.parse(
    await readFile(new URL('docs/openapi/examples.json', ROOT), 'utf8'),
  ) as RecordedExamples;
  const environment = readEnvironment(STAND_INS);
  const app = await createApp(AppModule.forRoot(environment), environment, false);
  return asJson(createDocument(app, examples, OPENAPI_SCHEMAS));
}
