import { readdir } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import type { Command } from 'commander';
import { apiCommands } from '../../src/cli/api/api-commands.js';
import { eraseCommand } from '../../src/cli/erase.command.js';
import { keysCommand } from '../../src/cli/keys.command.js';
import { migrateCommand } from '../../src/cli/migrate.command.js';
import { psqlCommand } from '../../src/cli/psql.command.js';
import { rederiveCommand } from '../../src/cli/rederive.command.js';
import { restoreCommand } from '../../src/cli/restore.command.js';
import { readPage, rowsOf } from './pages.js';

const unused = () => {
  throw new Error('no command runs here');
};
const throughApi = apiCommands(unused);
const others = [
  ...[migrateCommand, keysCommand, eraseCommand, rederiveCommand, restoreCommand].map((make) => make(unused)),
  psqlCommand(unused, {}),
];
const commands = [...throughApi, ...others];
const WITHOUT_JSON = {
  'campaigns result': 'prints CSV',
  psql: 'prints what psql prints',
};
/** Options that the page describes once for all commands. */
const OF_ALL = ['--json', '--limit', '--cursor'];

/** Returns why the command line would refuse these words, or null if it would accept them. */
function faultOf([name = '', ...words]: readonly string[]): string | null {
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

/** Returns each command that has no subcommands, with its options. */
function leavesOf(command: Command, parent = ''): string[][] {
  const path = `${parent} ${command.name()}`.trim();
  if (command.commands.length > 0) return command.commands.flatMap((sub) => leavesOf(sub, path));
  return [[path, ...command.options.flatMap(({ long }) => long ?? [])]];
}

describe('docs/command-line.md', () => {
  const documented = async (table: string) =>
    rowsOf(await readPage('docs/command-line.md'), table).map(([command = '', options = '']) => [
      command.replace(/ [A-Z_]+|`/g, '').trim(),
      ...options.split(/[` ]+/).filter((word) => word !== ''),
    ]);

  it('has every command with its options, and no other', async () => {
    const ofApi = throughApi.flatMap((command) => leavesOf(command));
    expect(await documented('api-commands')).toEqual(
      ofApi.map((words) => words.filter((word) => !OF_ALL.includes(word))),
    );
    expect(await documented('database-commands')).toEqual(others.flatMap((command) => leavesOf(command)));
  });
});

it('every command that prints a result has --json', () => {
  const without = commands
    .flatMap((command) => leavesOf(command))
    .filter((words) => !words.includes('--json'));
  expect(without.map(([path]) => path)).toEqual(Object.keys(WITHOUT_JSON));
});

describe('the documents', () => {
  it('name commands and options that exist', async () => {
    const pages = [
      'README.md',
      ...(await readdir('docs')).filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`),
    ];
    const texts = await Promise.all(pages.map(readPage));
    const named = texts.flatMap((text) =>
      [...text.matchAll(/(?<!-n )(?:npm run (?:-s )?cli --|pv-onboarding) ([a-z][^`\n#|&\]]*)/g)].map(
        ([, words = '']) => words.trim(),
      ),
    );
    expect(named.length).toBeGreaterThan(12);
    expect(named.map((words) => faultOf(words.split(/\s+/))).filter((fault) => fault !== null)).toEqual([]);
  });
});
