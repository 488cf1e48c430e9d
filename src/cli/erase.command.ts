import { Command, InvalidArgumentError } from 'commander';
import { ErasuresStore } from '../privacy/erasure/erasures.store.js';
import { toReceipt } from '../privacy/erasure/receipt.view.js';
import { Cipher } from '../platform/crypto/cipher.js';
import { readStoredReference } from '../users/tenant-reference.rules.js';
import { ACTOR, placeOf, withDatabase, type ReadEnvironment } from './command-environment.js';
import { confirm, YES, type Confirmation } from './confirm.js';
import { printJson } from './print.js';

export function eraseCommand(readEnvironment: ReadEnvironment): Command {
  return new Command('erase')
    .description(
      'permanently erase the personal data stored here for this tenantReference, and print the receipt',
    )
    .argument('<tenant-reference>', 'as registered', readReference)
    .option(...YES)
    .option('--json', 'print the receipt as JSON, which is the default')
    .action(async (tenantReference: string, confirmation: Confirmation) => {
      const effect = `this erases all personal data stored here for ${tenantReference}: names, email, EANs, metadata, registrations and inverter ids. Its sessions are no longer watched. This cannot be undone.`;
      await withDatabase(readEnvironment, async (database, environment) => {
        await confirm(placeOf(environment), effect, confirmation);
        const erasures = new ErasuresStore(database, new Cipher(environment));
        const erasure = await erasures.eraseReference(tenantReference, ACTOR);
        printJson(toReceipt(erasure, 'user and no registration with this tenantReference'));
      });
    });
}

function readReference(text: string): string {
  const read = readStoredReference(text);
  if ('fault' in read) throw new InvalidArgumentError(`It ${read.fault}.`);
  return read.reference;
}
