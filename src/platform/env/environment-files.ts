import { readFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { ENVIRONMENT_NAMES, type EnvironmentSource } from './environment-names.js';
import { ConfigurationError, warningsOf } from './read-environment.js';

/**
 * Replaces each NAME_FILE by NAME with the content of that file, without a newline at its end, because mounted secrets are files. Throws
 * ConfigurationError if a file cannot be read.
 */
export function readFiles(
  source: EnvironmentSource,
  names: readonly string[] = ENVIRONMENT_NAMES,
): EnvironmentSource {
  const variables = { ...source };
  const problems: string[] = [];
  for (const name of names) {
    const path = source[`${name}_FILE`];
    if (path === undefined) continue;
    delete variables[`${name}_FILE`];
    // A container may have a blank variable beside the file, to override an env_file.
    if (source[name]) problems.push(`${name} and ${name}_FILE are both set: remove one of them`);
    // Messages do not repeat the value: it may be the secret itself.
    else if (!isAbsolute(path)) problems.push(`${name}_FILE must be an absolute path`);
    else
      try {
        variables[name] = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
      } catch (error) {
        problems.push(`${name}_FILE cannot be read (${(error as NodeJS.ErrnoException).code})`);
      }
  }
  if (problems.length > 0) throw new ConfigurationError(problems, warningsOf(source));
  return variables;
}
