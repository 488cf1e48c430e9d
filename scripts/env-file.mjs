import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

/** Loads a file of variables. Variables that are already set take precedence. Node would miss the first one behind a byte order mark. */
export function loadEnvFile(path) {
  if (!existsSync(path)) return;
  const text = readFileSync(path, 'utf8').replace(/^\ufeff/, '');
  for (const [name, value] of Object.entries(parseEnv(text))) process.env[name] ??= value;
}
