import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

/**
 * Loads a file of variables. Variables that are already set take precedence. Node would miss the first one behind a byte order mark, and all
 * in UTF-16, in which PowerShell writes.
 */
export function loadEnvFile(path) {
  if (!existsSync(path)) return;
  const bytes = readFileSync(path);
  const encoding = bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : 'utf-8';
  const text = new TextDecoder(encoding).decode(bytes);
  for (const [name, value] of Object.entries(parseEnv(text))) process.env[name] ??= value;
}
