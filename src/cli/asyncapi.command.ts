import { readFile, writeFile } from 'node:fs/promises';
import { Command } from 'commander';
import { asyncapiDocument } from '../events/contract/asyncapi.js';
import { schemaDocument } from '../events/contract/schema-document.js';
import { withSchemas } from '../events/contract/schema-page.js';
import { printError } from './print.js';

const ROOT = new URL('../../', import.meta.url);

const asJson = (document: object) => `${JSON.stringify(document, null, 2)}\n`;

/** Generators of the files made from the event schemas, by path. On the page, text written by people is kept. */
const FILES: Readonly<Record<string, (current: string) => string>> = {
  'asyncapi.json': () => asJson(asyncapiDocument()),
  'docs/events.schema.json': () => asJson(schemaDocument()),
  'docs/events.md': withSchemas,
};

/** `asyncapi` writes the files from the catalogue of events; `asyncapi --check` only reports whether they are up to date. */
export function asyncapiCommand(): Command {
  return new Command('asyncapi')
    .description(`write ${Object.keys(FILES).join(', ')} from the catalogue of events`)
    .option('--check', 'write nothing, and exit with 1 when a file is not up to date')
    .action(async ({ check }: { check?: boolean }) => {
      for (const [path, write] of Object.entries(FILES)) {
        const file = new URL(path, ROOT);
        const current = await readFile(file, 'utf8').catch(() => '');
        const wanted = write(current);
        if (!check) {
          await writeFile(file, wanted);
        } else if (current !== wanted) {
          printError(`${path} is not what the code says: run \`npm run asyncapi\` and commit the difference`);
          process.exitCode = 1;
        }
      }
    });
}
