import type { Command } from 'commander';
import { apiCommands } from '../../src/cli/api/api-commands.js';
import type { Description } from '../../src/cli/api/operation.rules.js';

const TABLE = /(?<=<!-- api-commands -->\n\n)(\|.*\n)+/;

/** Returns the page with the table of the commands that `description` leads to. */
export function withCommandTable(page: string, description: Description): string {
  const unused = () => Promise.reject(new Error('no command runs here'));
  const rows = [
    ['command', 'its commands, or what it does'],
    ...apiCommands(unused, description).map((each) => rowOf(each)),
  ];
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]!.length)));
  const lines = rows.map((row) => `| ${row.map((cell, at) => cell.padEnd(widths[at]!)).join(' | ')} |\n`);
  lines.splice(1, 0, `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |\n`);
  return page.replace(TABLE, () => lines.join(''));
}

/** Returns the row of a command: its subcommands, or its description if it has none. */
function rowOf(command: Command): [string, string] {
  const { commands } = command;
  return [usageOf(command), commands.length > 0 ? commands.map(usageOf).join(', ') : command.description()];
}

/** Returns the name of a command with its arguments. */
function usageOf(command: Command): string {
  const names = command.registeredArguments.map((argument) =>
    argument.name().toUpperCase().replaceAll('-', '_'),
  );
  return `\`${[command.name(), ...names].join(' ')}\``;
}
