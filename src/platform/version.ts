import { readFileSync } from 'node:fs';

/** The version in package.json. The relative path is the same from the build and from the sources. */
export const VERSION: string = (
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
).version;
