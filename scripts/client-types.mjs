import { readFile, writeFile } from 'node:fs/promises';
import openapiTS, { astToString } from 'openapi-typescript';

// Writes the types of clients/typescript from openapi.json. With --check, only compares them.
const FILE = 'clients/typescript/src/openapi.ts';

// The examples are recorded anew now and then. Without them, the types change only when the API does.
const document = JSON.parse(await readFile('openapi.json', 'utf8'), (name, value) =>
  name === 'example' ? undefined : value,
);
// A field with a default may be left out of a request.
const nodes = await openapiTS(document, { emptyObjectsUnknown: true, defaultNonNullable: false });
const types = `// Generated from openapi.json by \`npm run openapi\`.\n\n${astToString(nodes)}`;

if (!process.argv.includes('--check')) {
  await writeFile(FILE, types);
} else if ((await readFile(FILE, 'utf8')) !== types) {
  console.error(`${FILE} is not what openapi.json says: run \`npm run openapi\``);
  process.exitCode = 1;
}
