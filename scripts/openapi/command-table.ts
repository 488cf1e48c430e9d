import type { Command } from 'commander';
import { apiCommands } from '../../src/cli/api/api-commands.js';
import type { Description } from '../../src/cli/api/operation.rules.js';

const TABLE = /(?<=<!-- api-commands -->\n\n)(\|.*\n)+/;

/** Returns the page with the table of the commands that `description` leads to. */
export function withCommandTable(page: string, description: Description): string {
  const unused = () => Promise.reject(new Error('no command runs here'));
  const rows = [
    ['command', 'what it does'],
    ...apiCommands(unused, description).flatMap((each) => rowsOf(each)),
  ];
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]!.length)));
  const lines = rows.map((row) => `| ${row.map((cell, at) => cell.padEnd(widths[at]!)).join(' | ')} |\n`);
  lines.splice(1, 0, `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |\n`);
  return page.replace(TABLE, () => lines.join(''));
}

/** Returns a row for a command, or for each of its subcommands. */
function rowsOf(command: Command, parent = ''): string[][] {
  const path = `${parent}${command.name()}`;
  if (command.commands.length > 0) return command.commands.flatMap((sub) => rowsOf(sub, `${path} `));
  const names = command.registeredArguments.map((argument) =>
    argument.name().toUpperCase().replaceAll('-', '_'),
  );
  return [[`\`${[path, ...names].join(' ')}\``, command.description()]];
}
