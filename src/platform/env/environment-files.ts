import { readFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import type { EnvironmentSource } from './environment-names.js';

export interface FilesRead {
  readonly variables: EnvironmentSource;
  /** The problems by the name of the variable. They contain no values, since these may be secret. */
  readonly problems: ReadonlyMap<string, string>;
}

/** Decodes a file of an operator: UTF-8, or UTF-16 with a byte order mark, in which PowerShell writes. Omits the byte order mark. */
export const decodeText = (bytes: Uint8Array): string =>
  new TextDecoder(bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : 'utf-8').decode(bytes);

/** Replaces NAME_FILE, the path of a mounted secret, by NAME with its content, without a newline at its end. Removes both after a problem. */
export function readFiles(source: EnvironmentSource, names: readonly string[]): FilesRead {
  const variables = { ...source };
  const problems = new Map<string, string>();
  for (const name of names) {
    const path = source[`${name}_FILE`];
    if (path === undefined) continue;
    delete variables[`${name}_FILE`];
    delete variables[name];
    // A container may have a blank variable beside the file, to override an env_file.
    if (source[name]) problems.set(name, `${name} and ${name}_FILE are both set: remove one of them`);
    // The messages do not contain the path: by mistake, it may be the secret itself.
    else if (!isAbsolute(path)) problems.set(name, `${name}_FILE must be an absolute path`);
    else
      try {
        variables[name] = decodeText(readFileSync(path)).replace(/\r?\n$/, '');
      } catch (error) {
        problems.set(name, `${name}_FILE cannot be read (${(error as NodeJS.ErrnoException).code})`);
      }
  }
  return { variables, problems };
}
