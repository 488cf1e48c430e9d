import { Command, InvalidArgumentError } from 'commander';
import { AuditLog } from '../access/audit-log.store.js';
import { SessionsStore } from '../onboarding/store/sessions.store.js';
import { Rederivation } from '../onboarding/store/rederive.service.js';
import { ACTOR, withDatabase, type ReadEnvironment } from './command-database.js';
import { print, printError } from './print.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** `rederive`, on the database that `readEnvironment` names. */
export function rederiveCommand(readEnvironment: ReadEnvironment): Command {
  return new Command('rederive')
    .description(
      'replay the answers that were kept through the rules of today, and show which states would change',
    )
    .option('--session <id>', 'only this session', readId)
    .option('--write', 'also write the changes, with their transitions and events')
    .action(({ session, write = false }: { session?: string; write?: boolean }) =>
      withDatabase(readEnvironment, async (database, environment) => {
        const sessions = new SessionsStore(database, new AuditLog(), environment);
        await rederive(new Rederivation(database, sessions), session ?? null, write);
      }),
    );
}

async function rederive(rederivation: Rederivation, sessionId: string | null, write: boolean): Promise<void> {
  let found = 0;
  let written = 0;
  for await (const changes of rederivation.plan(sessionId)) {
    for (const { id, from, verdict } of changes)
      print(`${id}  ${from} -> ${verdict.state}  (${verdict.rule})`);
    found += changes.length;
    if (write) written += await rederivation.write(changes, ACTOR);
  }
  if (found === 0) printError('every state is what the rules of today make of it');
  else if (write && written === found) printError(`${written} written`);
  else if (write) printError(`${written} of ${found} written; the others have changed meanwhile`);
  else printError(`${found} would change; add --write to write them`);
}

function readId(text: string): string {
  if (!UUID.test(text)) throw new InvalidArgumentError('It is a UUID.');
  return text.toLowerCase();
}
