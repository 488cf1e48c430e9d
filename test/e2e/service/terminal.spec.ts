import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { ServiceLogger } from '../../../src/observability/logging/service-logger.js';
import { CREDENTIALS, environmentFor, testEnvironment } from '../../setup/test-environment.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** Clears the screen twice (ESC [ and CSI), returns the carriage, and overrides the text direction. */
const HOSTILE = '\u001b[2J\u009b2J\r\u202ename';
const VISIBLE = '\\u001b[2J\\u009b2J\\u000d\\u202ename';
/** Any control or format character except a line feed. */
const CONTROL = /[^\P{Cc}\n]|\p{Cf}/u;

const written: string[] = [];
afterEach(() => {
  jest.restoreAllMocks();
  written.length = 0;
});

async function refusingDatabase(message: string): Promise<Server> {
  const body = Buffer.from(`SFATAL\0VFATAL\0CXX000\0M${message}\0\0`);
  const head = Buffer.alloc(5, 'E');
  head.writeInt32BE(body.length + 4, 1);
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(Buffer.concat([head, body])));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

async function runCli(args: string[], databaseUrl: string, exitCode = 2): Promise<string> {
  const child = spawn(
    process.execPath,
    [
      '--import',
      new URL('../../setup/compile/typescript.mjs', import.meta.url).href,
      'src/cli/main.ts',
      ...args,
    ],
    {
      cwd: ROOT,
      env: {
        PATH: process.env.PATH,
        ...testEnvironment(),
        ...CREDENTIALS,
        DATABASE_URL: databaseUrl,
        SCS_BASE_URL: 'http://127.0.0.1:9',
        NODE_ENV: 'production',
      },
    },
  );
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  expect(await once(child, 'close')).toEqual([exitCode, null]);
  return text;
}

describe('a command', () => {
  it('prints the text of a database error or an argument visibly', async () => {
    const database = await refusingDatabase(HOSTILE);
    const { port } = database.address() as AddressInfo;
    try {
      const outputs = await Promise.all([
        runCli(['migrate'], `postgresql://none@127.0.0.1:${port}/none`, 1),
        runCli(['keys', HOSTILE], 'postgresql://none@127.0.0.1:9/none'),
        runCli(['keys', 'revoke', HOSTILE], 'postgresql://none@127.0.0.1:9/none'),
      ]);
      for (const output of outputs) {
        expect(output).toContain(VISIBLE);
        expect(output).not.toMatch(CONTROL);
      }
    } finally {
      database.close();
    }
  });
});

describe('a log line', () => {
  const log = (format: 'pretty' | 'json', write: (logger: ServiceLogger) => void): string => {
    const environment = environmentFor('postgresql://none@127.0.0.1/none', { LOG_FORMAT: format });
    write(new ServiceLogger(environment, { write: (line) => written.push(line) }));
    return written.join('');
  };

  it.each(['pretty', 'json'] as const)('in %s contains no control characters', (format) => {
    const error = new Error(`${HOSTILE}\n[pv-onboarding] 1  - forged`);
    const output = log(format, (logger) => {
      logger.warn(`of data: ${HOSTILE}\n[pv-onboarding] 1  - forged`, 'Test');
      logger.error(error.message, error.stack, 'Test');
      logger.error(error);
      logger.warn({ of: HOSTILE });
    });
    expect(output).not.toMatch(CONTROL);
    expect(output).toContain('\\u001b[2J\\u009b2J');
    expect(output).not.toMatch(/^\[pv-onboarding\] 1 {2}- forged/m);
  });
});
