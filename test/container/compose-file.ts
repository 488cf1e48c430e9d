import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { load, YAML11_SCHEMA } from 'js-yaml';
import { findOpenssl } from '../setup/receivers/certificates.js';
import { blockOf, readPage } from '../docs/pages.js';

const run = promisify(execFile);

export interface Service {
  readonly image: string;
  readonly build?: string;
  readonly command?: string | readonly string[];
  readonly environment?: Readonly<Record<string, string | number>>;
  readonly env_file?: string;
  readonly secrets?: readonly string[];
  readonly ports?: readonly string[];
  readonly profiles?: readonly string[];
  readonly volumes?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly deploy?: { readonly replicas: number };
  readonly healthcheck?: { readonly disable?: boolean };
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly tmpfs?: readonly string[];
  readonly init?: boolean;
  readonly pull_policy?: string;
  readonly restart?: string;
  readonly stop_grace_period?: string;
}

export interface Compose {
  readonly text: string;
  readonly services: Readonly<Record<string, Service>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

export async function readCompose(): Promise<Compose> {
  const text = await readPage('docker-compose.yml');
  return { ...(load(text, { schema: YAML11_SCHEMA }) as Omit<Compose, 'text'>), text };
}

/** Returns the variables that the comment at the top of the compose file sets after the words `after`. */
export function variablesOfHead({ text }: Compose, after: string): Record<string, string> {
  const head = text.slice(text.indexOf(after), text.indexOf('\nname:'));
  const lines = head.split('\n').filter((line) => /^# {3}[A-Z]/.test(line));
  return Object.fromEntries(
    lines.flatMap((line) => [...line.matchAll(/([A-Z_]+)=(\S+)/g)].map(([, name, value]) => [name, value])),
  );
}

/** Returns the secrets of the sandbox that the comment at the top of the compose file gives, by name. */
export function secretsOfHead({ text }: Compose): Record<string, string> {
  const head = text.slice(0, text.indexOf('\nname:'));
  const words = [...head.matchAll(/`([^`]+)`\s+(?:# )?into secrets\/([A-Z_]+)/g)];
  return Object.fromEntries(words.map(([, value, name]) => [name, value]));
}

/** Returns the variables that the compose file sets for a service. Replaces `${NAME}` by the variable of `.env`. */
export const environmentOf = (service: Service, dotEnv: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(service.environment ?? {}).map(([name, value]) => [name, interpolate(value, dotEnv)]),
  );

/** Replaces `${NAME}`, `${NAME:-default}` and `${NAME:?message}` as compose does. */
const interpolate = (value: string | number, variables: Readonly<Record<string, string>>): string =>
  String(value).replace(
    /\$\{([A-Z_]+)(?::([-?])([^}]*))?\}/g,
    (_, name: string, kind?: string, rest?: string) => {
      const found = variables[name] ?? (kind === '-' ? rest : undefined);
      if (found === undefined) throw new Error(`${name} is not set`);
      return found;
    },
  );

/** Creates `secrets` in `folder` as docs/deployment.md says. The umask of the caller must not make them unreadable for the containers. */
export async function createSecrets(folder: string): Promise<void> {
  const recipe = blockOf(await readPage('docs/deployment.md'), 'compose-secrets');
  const env = { ...process.env, PATH: await pathWithOpenssl(folder) };
  await run('sh', ['-c', `umask 077; ${recipe}`], { cwd: folder, env });
}

/** Writes the secrets that the provider issues. */
export async function writeSecrets(folder: string, values: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, value] of Object.entries(values)) await writeFile(join(folder, 'secrets', name), value);
}

/** Returns PATH, with a program that prints random bytes as `openssl rand` does if there is no openssl. */
async function pathWithOpenssl(folder: string): Promise<string> {
  const path = process.env.PATH ?? '';
  if (findOpenssl() !== null) return path;
  const print = `console.log(crypto.randomBytes(32).toString(process.argv[3].slice(1)))`;
  await writeFile(join(folder, 'openssl'), `#!${process.execPath}\n${print}\n`, { mode: 0o755 });
  return `${folder}${delimiter}${path}`;
}
