import { readFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { ENVIRONMENT_NAMES, type EnvironmentSource } from './environment-names.js';

export interface FilesRead {
  readonly variables: EnvironmentSource;
  /** By the name of the variable. Contains no values, since they may be secret. */
  readonly problems: ReadonlyMap<string, string>;
}

/**
 * Replaces each NAME_FILE by NAME with the content of that file, without a newline at its end, because mounted secrets are files. Removes
 * both if there is a problem.
 */
export function readFiles(
  source: EnvironmentSource,
  names: readonly string[] = ENVIRONMENT_NAMES,
): FilesRead {
  const variables = { ...source };
  const problems = new Map<string, string>();
  for (const name of names) {
    const path = source[`${name}_FILE`];
    if (path === undefined) continue;
    delete variables[`${name}_FILE`];
    delete variables[name];
    // A container may have a blank variable beside the file, to override an env_file.
    if (source[name]) problems.set(name, `${name} and ${name}_FILE are both set: remove one of them`);
    // Messages do not repeat the value: it may be the secret itself.
    else if (!isAbsolute(path)) problems.set(name, `${name}_FILE must be an absolute path`);
    else
      try {
        variables[name] = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
      } catch (error) {
        problems.set(name, `${name}_FILE cannot be read (${(error as NodeJS.ErrnoException).code})`);
      }
  }
  return { variables, problems };
}
