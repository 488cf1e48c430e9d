import { readFileSync } from 'node:fs';

/** As package.json has it, which is as far from here in the build as in the sources. */
export const VERSION: string = (
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
).version;
