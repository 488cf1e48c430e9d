import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it, jest } from '@jest/globals';
import { readPage, ROOT } from '../docs/pages.js';

jest.setTimeout(240_000);

const run = promisify(execFile);
const pathOf = (path: string) => fileURLToPath(new URL(path, ROOT));

/** The declarations that a code block without imports takes from its surroundings. */
const CONTEXT = `
  import { followEvents, isTemporary, items, ProblemError } from '@pv-onboarding/client';
  import type { Client, OnboardingEvent, Schemas, Session } from '@pv-onboarding/client';
  declare const client: Client;
  declare const session: Session;
  declare const endpoint: Schemas['CreatedWebhookEndpointView'];
  declare const body: Schemas['RegisterUserInput'];
  declare const after: string;
  declare const signal: AbortSignal;
  declare const handle: (event: OnboardingEvent) => Promise<void>;
  declare const save: (place: unknown) => Promise<void>;
`;

it('the README of the client links only files of its package', async () => {
  const readme = await readPage('clients/typescript/README.md');
  const links = [...readme.matchAll(/\]\((?!https?:|#)([^)]+)\)/g)].map(([, link]) => link);
  expect(links.filter((link) => !link?.startsWith('examples/'))).toEqual([]);
});

it('all TypeScript of the README of the client compiles, with types generated as they say', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'pv-readme-'));
  try {
    const page = await readPage('clients/typescript/README.md');
    const [, options = ''] = /npx openapi-typescript \S+ (.+) -o openapi.ts/.exec(page) ?? [];
    const generated = ['openapi.json', ...options.split(' '), '-o', join(folder, 'openapi.ts')];
    await run(process.execPath, ['node_modules/openapi-typescript/bin/cli.js', ...generated], {
      cwd: pathOf('.'),
    });
    const blocks = [...page.matchAll(/^```ts\n(.*?)^```/gms)].map(([, text = '']) => text);
    expect(blocks.length).toBeGreaterThan(8);
    for (const [index, block] of blocks.entries())
      await writeFile(
        join(folder, `block-${index}.ts`),
        block.startsWith('import ') ? block : `${CONTEXT}{\n${block}}`,
      );
    await symlink(pathOf('node_modules'), join(folder, 'node_modules'));
    await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
    const config = {
      extends: pathOf('clients/typescript/tsconfig.json'),
      compilerOptions: { noUnusedLocals: false },
      include: ['*.ts'],
    };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
    const compiled = await run(process.execPath, [
      pathOf('node_modules/typescript/bin/tsc'),
      '-p',
      folder,
    ]).catch((error: { stdout: string }) => error);
    expect(compiled.stdout).toBe('');
  } finally {
    await rm(folder, { recursive: true });
  }
});
