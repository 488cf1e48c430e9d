import { counted } from '../platform/counted.rules.js';
import { Command } from 'commander';
import { recordAudit } from '../access/audit-log.store.js';
import type { Database } from '../platform/database/database.js';
import { isServiceRunning, moveHome } from '../platform/database/deployment.store.js';
import { readStoredReference } from '../users/tenant-reference.rules.js';
import * as restore from './restore.store.js';
import { readInput } from './read-input.js';
import { CommandError } from './command-error.js';
import { ACTOR, withDatabase, type ReadEnvironment } from './command-environment.js';
import { JSON_OPTION, print, printJson } from './print.js';

interface Options {
  readonly confirm?: boolean;
  readonly moved?: boolean;
  /** A file with the references that were registered after the backup. */
  readonly referencesChecked?: string;
  readonly noneRegistered?: boolean;
}

/** The maximum number of unknown references that the error message names. */
const NAMED = 20;

/** Returns the command that declares a database to be a restored backup or a moved copy, so that the service starts on it. */
export function restoreCommand(readEnvironment: ReadEnvironment): Command {
  return new Command('restore')
    .description('let the service start on a restored or copied database; stop the original first')
    .option('--confirm', 'the database is a restored backup: pending and new registrations wait for a person')
    .option('--moved', 'the service was stopped before the copy was made and has not run since')
    .option(
      '--references-checked <file>',
      'send registrations as usual, if all references of this file are known: those registered after the backup, one a line; - is the standard input',
    )
    .option('--none-registered', 'nothing was registered after the backup: send registrations as usual')
    .option(...JSON_OPTION)
    .action(async ({ json, ...options }: Options & { json?: boolean }) => {
      const usage = 'Give one of --confirm, --moved, --references-checked and --none-registered.';
      if (Object.keys(options).length !== 1) throw new CommandError('usage', usage, 2);
      const { referencesChecked: file } = options;
      const references = file === undefined ? [] : readReferences(await readInput(file));
      return withDatabase(readEnvironment, async (database) => {
        const done = await run(database, options, references);
        if (json) printJson(done);
        else print(textOf(done));
      });
    });
}

interface Done {
  /** The same action as in the audit log. */
  readonly action: 'database.restored' | 'database.moved' | 'references.checked';
  readonly uncertain?: number;
  readonly known?: number;
}

/** Returns the references of a file. Throws CommandError if a line is not a valid reference, or if the file is empty. */
function readReferences(text: string): string[] {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  const fault = (message: string) => new CommandError('usage', message, 2);
  const references = new Set<string>();
  for (const [index, line] of lines.entries()) {
    if (line === '') continue;
    const read = readStoredReference(line);
    if ('fault' in read) throw fault(`Line ${index + 1}: a tenantReference ${read.fault}.`);
    references.add(read.reference);
  }
  if (references.size > 0) return [...references];
  throw fault(
    'The file has no references. If nothing was registered after the backup, use --none-registered.',
  );
}

async function run(
  database: Database,
  { confirm, moved }: Options,
  references: readonly string[],
): Promise<Done> {
  if ((confirm || moved) && (await isServiceRunning(database)))
    throw new CommandError('service_running', 'The service is running on this database: stop it first.');
  if (confirm) return { action: 'database.restored', uncertain: await confirmRestore(database) };
  const action = moved ? 'database.moved' : 'references.checked';
  const known = references.length;
  await database.transaction(async (tx) => {
    if (moved) await moveHome(tx);
    else if (!(await restore.confirmReferences(tx)))
      throw new CommandError('no_restore', 'There is no restore with unchecked references.');
    const unknown = await restore.findUnknownReferences(tx, references);
    if (unknown.length > 0) throw unknownReferences(unknown, known);
    await recordAudit(tx, { actor: ACTOR, action, ...(known > 0 && { details: { known } }) });
  });
  return { action, ...(known > 0 && { known }) };
}

function unknownReferences(unknown: readonly string[], all: number): CommandError {
  const named = unknown.slice(0, NAMED).join(', ');
  const more = unknown.length > NAMED ? `, and ${unknown.length - NAMED} more (--json has all)` : '';
  const detail =
    `${unknown.length} of ${counted(all, 'reference is', 'references are')} not in this database, and nothing was changed: ${named}${more}. ` +
    'Register each; it becomes uncertain without being sent. Then resolve it with the user that the provider confirms.';
  const code = 'unknown_references';
  return new CommandError(code, detail, 1, { code, detail, known: all - unknown.length, unknown });
}

function textOf({ action, uncertain, known }: Done): string {
  switch (action) {
    case 'database.restored':
      return `${counted(uncertain ?? 0, 'pending registration is', 'pending registrations are')} uncertain now; new ones wait for a person`;
    case 'database.moved':
      return 'the service now starts on this database';
    case 'references.checked':
      return `${known === undefined ? '' : `${counted(known, 'reference is', 'references are')} known; `}registrations are now sent as usual`;
  }
}

const confirmRestore = (database: Database): Promise<number> =>
  database.transaction(async (tx) => {
    await moveHome(tx);
    await restore.recordRestore(tx);
    const uncertain = await restore.movePendingToUncertain(tx);
    await recordAudit(tx, { actor: ACTOR, action: 'database.restored', details: { uncertain } });
    return uncertain;
  });
