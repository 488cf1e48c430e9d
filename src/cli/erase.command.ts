import { Command, InvalidArgumentError } from 'commander';
import { AuditLog } from '../access/audit-log.store.js';
import { ErasuresStore } from '../erasure/erasures.store.js';
import { toReceipt } from '../erasure/receipt.dto.js';
import { Problem } from '../platform/problem/problem.js';
import { tenantReferenceFault } from '../users/tenant-reference.rules.js';
import { ACTOR, withDatabase, type ReadEnvironment } from './command-database.js';
import { printError, printJson } from './print.js';

/** `erase`, on the database that `readEnvironment` names. */
export function eraseCommand(readEnvironment: ReadEnvironment): Command {
  return new Command('erase')
    .description(
      'erase what is personal about whoever has this tenantReference, here and for good, and print the receipt',
    )
    .argument('<tenant-reference>', 'as registered', readReference)
    .action((tenantReference: string) =>
      withDatabase(readEnvironment, async (database) => {
        try {
          const erasures = new ErasuresStore(database, new AuditLog());
          const receipt = toReceipt(await erasures.eraseReference(tenantReference, ACTOR));
          printJson(receipt);
        } catch (error) {
          if (!(error instanceof Problem)) throw error;
          printError(error.detail);
          process.exitCode = 1;
        }
      }),
    );
}

function readReference(text: string): string {
  const fault = tenantReferenceFault(text);
  if (fault !== undefined) throw new InvalidArgumentError(`It ${fault}.`);
  return text;
}
