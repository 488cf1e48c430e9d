import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { useFolder } from '../../../test/setup/folder.js';
import { readFiles } from './environment-files.js';
import { ENVIRONMENT_NAMES, type EnvironmentSource } from './environment-names.js';
import { readEnvironment } from './read-environment.js';

const folder = useFolder();

async function write(content: string | Buffer): Promise<string> {
  const path = join(folder, 'secret');
  await writeFile(path, content);
  return path;
}

const problemsOf = (source: EnvironmentSource): string[] => [
  ...readFiles(source, ENVIRONMENT_NAMES).problems.values(),
];

describe('readFiles', () => {
  it.each(ENVIRONMENT_NAMES)('%s_FILE gives %s the content of the file', async (name) => {
    const path = await write('canary');
    const { variables } = readFiles({ [`${name}_FILE`]: path, PATH: '/bin' }, ENVIRONMENT_NAMES);
    expect(variables).toEqual({ [name]: 'canary', PATH: '/bin' });
  });

  it.each([
    ['secret\n', 'secret'],
    ['secret\r\n', 'secret'],
    ['secret\n\n', 'secret\n'],
    [' secret ', ' secret '],
    ['\ufeffsecret\r\n', 'secret'],
    ['', ''],
  ])('removes a byte order mark and one newline at the end, and nothing else: %j', async (content, value) => {
    const { variables } = readFiles({ SCS_API_KEY_FILE: await write(content) }, ENVIRONMENT_NAMES);
    expect(variables.SCS_API_KEY).toBe(value);
  });

  it('reads UTF-16 with a byte order mark, in which PowerShell writes', async () => {
    const path = await write(Buffer.from('\ufeffsecret\r\n', 'utf16le'));
    expect(readFiles({ SCS_API_KEY_FILE: path }, ENVIRONMENT_NAMES).variables.SCS_API_KEY).toBe('secret');
  });

  it('leaves variables without a file, and files of other programs, as they are', () => {
    const source = { SCS_API_KEY: 'key', POSTGRES_PASSWORD_FILE: '/nowhere' };
    expect(readFiles(source, ENVIRONMENT_NAMES).variables).toEqual(source);
  });

  it('reads the file if the variable is empty', async () => {
    const source = { SCS_API_KEY: '', SCS_API_KEY_FILE: await write('secret') };
    expect(readFiles(source, ENVIRONMENT_NAMES).variables).toEqual({ SCS_API_KEY: 'secret' });
  });

  it('refuses a variable that is set in both ways, naming both', async () => {
    const source = { SCS_API_KEY: 'canary-1', SCS_API_KEY_FILE: await write('canary-2') };
    expect(problemsOf(source)).toEqual(['SCS_API_KEY and SCS_API_KEY_FILE are both set: remove one of them']);
  });

  it('names every file that cannot be read, with the reason and without its path', () => {
    const missing = join(folder, 'missing');
    expect(problemsOf({ SCS_API_KEY_FILE: missing, DATABASE_URL_FILE: folder })).toEqual([
      'DATABASE_URL_FILE cannot be read (EISDIR)',
      'SCS_API_KEY_FILE cannot be read (ENOENT)',
    ]);
  });

  it.each(['postgresql://user:canary@host/pv', 'canary', ''])(
    'refuses a value that is not an absolute path, without repeating it: %j',
    (value) => {
      expect(problemsOf({ DATABASE_URL_FILE: value })).toEqual([
        'DATABASE_URL_FILE must be an absolute path',
      ]);
    },
  );

  it('leaves its problems to readEnvironment, which names all problems in one message', () => {
    const { variables, problems } = readFiles(
      {
        NODE_ENV: 'production',
        PORT: 'abc',
        SCS_CLIENT_SECRET: 'canary',
        SCS_CLIENT_SECRET_FILE: '/run/secrets/canary',
      },
      ENVIRONMENT_NAMES,
    );
    const read = () => readEnvironment(variables, problems);
    expect(read).toThrow(/SCS_CLIENT_SECRET and SCS_CLIENT_SECRET_FILE are both set[^]*PORT must be/);
    expect(read).not.toThrow(/canary|SCS_CLIENT_SECRET is required/);
  });
});

it.each(['utf8', 'utf16le'] as const)(
  '.env is read in %s with a mark, and replaces nothing',
  async (encoding) => {
    const path = join(folder, '.env');
    await writeFile(path, '\ufeffFIRST=1\r\nSECOND="a # b" # c\nSET=file\nEMPTY=file\n', encoding);
    const module = new URL('../../../scripts/env-file.mjs', import.meta.url).href;
    const code = `import { loadEnvFile } from '${module}';
    loadEnvFile(process.argv[1]);
    loadEnvFile('missing');
    const { FIRST, SECOND, SET, EMPTY } = process.env;
    console.log(JSON.stringify([FIRST, SECOND, SET, EMPTY]));`;
    const env = { SET: 'set', EMPTY: '' };
    const said = execFileSync(process.execPath, ['--input-type=module', '-e', code, path], {
      env,
      encoding: 'utf8',
    });
    expect(JSON.parse(said)).toEqual(['1', 'a # b', 'set', '']);
  },
);
