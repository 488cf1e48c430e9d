import { readdir } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { Command } from 'commander';
import { apiCommands } from '../../src/cli/api/api-commands.js';
import { completionCommand } from '../../src/cli/completion.command.js';
import { eraseCommand } from '../../src/cli/erase.command.js';
import { keysCommand } from '../../src/cli/keys.command.js';
import { migrateCommand } from '../../src/cli/migrate.command.js';
import { psqlCommand } from '../../src/cli/psql.command.js';
import { restoreCommand } from '../../src/cli/restore.command.js';
import { readPage, rowsOf } from './readme.js';

const unused = () => {
  throw new Error('no command runs here');
};
const throughApi = apiCommands(unused);
const others = [
  ...[migrateCommand, keysCommand, eraseCommand, restoreCommand].map((make) => make(unused)),
  psqlCommand(unused, {}),
  completionCommand(new Command()),
];
const commands = [...throughApi, ...others];
/** Defined in main.ts, which runs when it is imported. */
const inMain = ['rederive', 'openapi', 'asyncapi'];

/** Returns what the command line would refuse of `words`, or null. */
function faultOf([name = '', ...words]: readonly string[]): string | null {
  if (inMain.includes(name)) return null;
  let command: Command | undefined = commands.find((each) => each.name() === name);
  if (command === undefined) return `there is no command ${name}`;
  const rest = [...words];
  while (command.commands.length > 0) {
    const sub = rest.shift();
    const found: Command | undefined = command.commands.find((each) => each.name() === sub);
    if (found === undefined) return `${command.name()} has no command ${sub}`;
    command = found;
  }
  const unknown = rest.filter(
    (word) => word.startsWith('--') && !command.options.some((option) => option.long === word),
  );
  return unknown.length === 0 ? null : `${command.name()} has no ${unknown.join(', ')}`;
}

/** Returns each command that has no subcommands, with its options except those that the page describes once for all. */
function leavesOf(command: Command, parent = ''): string[][] {
  const path = `${parent} ${command.name()}`.trim();
  if (command.commands.length > 0) return command.commands.flatMap((sub) => leavesOf(sub, path));
  const options = command.options.flatMap(({ long }) => long ?? []);
  return [[path, ...options.filter((option) => !['--json', '--limit', '--cursor'].includes(option))]];
}

describe('docs/command-line.md', () => {
  const documented = async (table: string) =>
    rowsOf(await readPage('docs/command-line.md'), table)
      .map(([command = '', options = '']) => [
        command.replace(/ [A-Z_]+|`/g, '').trim(),
        ...options.split(/[` ]+/).filter((word) => word !== ''),
      ])
      .filter(([name = '']) => !inMain.includes(name));

  it('has every command with its options, and no other', async () => {
    expect(await documented('api-commands')).toEqual(throughApi.flatMap((command) => leavesOf(command)));
    expect(await documented('database-commands')).toEqual(others.flatMap((command) => leavesOf(command)));
  });
});

describe('the documents', () => {
  it('name commands and options that exist', async () => {
    const pages = [
      'README.md',
      ...(await readdir('docs')).filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`),
    ];
    const texts = await Promise.all(pages.map(readPage));
    const named = texts.flatMap((text) =>
      [...text.matchAll(/(?<!-n )(?:npm run cli --|pv-onboarding) ([a-z][^`\n#|&\]]*)/g)].map(
        ([, words = '']) => words.trim(),
      ),
    );
    expect(named.length).toBeGreaterThan(12);
    expect(named.map((words) => faultOf(words.split(/\s+/))).filter((fault) => fault !== null)).toEqual([]);
  });

  it('would be found to name others', () => {
    expect(faultOf(['migrat'])).toBe('there is no command migrat');
    expect(faultOf(['keys', 'rotate'])).toBe('keys has no command rotate');
    expect(faultOf(['migrate', '--dry-run'])).toBe('migrate has no --dry-run');
  });
});
