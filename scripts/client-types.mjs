import { readFile, writeFile } from 'node:fs/promises';
import openapiTS, { astToString } from 'openapi-typescript';

// Writes the types of clients/typescript from openapi.json. With --check, only compares them with the existing file.
const FILE = 'clients/typescript/src/openapi.ts';

// Removes the examples. Otherwise, newly recorded examples would change the types although the API is the same.
const document = JSON.parse(await readFile('openapi.json', 'utf8'), (name, value) =>
  name === 'example' ? undefined : value,
);
// defaultNonNullable: false, because a request may omit a field that has a default.
const nodes = await openapiTS(document, { emptyObjectsUnknown: true, defaultNonNullable: false });
const types = `// Generated from openapi.json by \`npm run openapi\`.\n\n${astToString(nodes)}`;

if (!process.argv.includes('--check')) {
  await writeFile(FILE, types);
} else if ((await readFile(FILE, 'utf8')) !== types) {
  console.error(`${FILE} is not what openapi.json says: run \`npm run openapi\``);
  process.exitCode = 1;
}
