import { counted } from '../platform/counted.rules.js';
import { Command } from 'commander';
import { Metrics } from '../platform/metrics/metrics.js';
import { planRederivations } from './rederivation.js';
import { applyRederived } from './rederived.store.js';
import { SessionsStore } from '../onboarding/store/sessions.store.js';
import { ACTOR, placeOf, withDatabase, type ReadEnvironment } from './command-environment.js';
import { CommandError } from './command-error.js';
import { confirm, YES, type Confirmation } from './confirm.js';
import { print, printError } from './print.js';
import { readId } from './read-input.js';

interface Options extends Confirmation {
  readonly session?: string;
  readonly write?: boolean;
  readonly json?: boolean;
}

export function rederiveCommand(readEnvironment: ReadEnvironment): Command {
  return new Command('rederive')
    .description('apply the current rules to the stored responses, and show which states would change')
    .option('--session <id>', 'only this session', readId)
    .option('--write', 'also write the changes, with their transitions and events')
    .option(...YES)
    .option('--json', 'print each change as one line of JSON')
    .action(async ({ session, write = false, json, ...confirmation }: Options) => {
      const which = session === undefined ? 'of all sessions' : `of the session ${session}`;
      const effect = `this changes the states ${which} to what the current rules make of the stored responses, and announces each change with an event, which cannot be undone. Without --write, the changes are only shown.`;
      await withDatabase(readEnvironment, async (database, environment) => {
        if (session && (await database.prisma.onboardingSession.count({ where: { id: session } })) === 0)
          throw new CommandError('not_found', `There is no session ${session}`);
        if (write) await confirm(placeOf(environment), effect, confirmation);
        const sessions = new SessionsStore(database, environment, new Metrics());
        let found = 0;
        let written = 0;
        for await (const changes of planRederivations(database, session ?? null)) {
          // Writes before it prints, because printing may end the process.
          if (write && changes.length > 0)
            written += await applyRederived(database, sessions, changes, ACTOR);
          for (const { id, from, classification } of changes)
            print(
              json
                ? JSON.stringify({ sessionId: id, previousState: from, ...classification })
                : `${id}  ${from} -> ${classification.state}  (${classification.rule})`,
            );
          found += changes.length;
        }
        if (found === 0) printError('the current rules change no state');
        else if (!write)
          printError(
            `${counted(found, 'state', 'states')} would change; add --write to change ${found === 1 ? 'it' : 'them'}`,
          );
        else if (written === found) printError(`${written} written`);
        else printError(`${written} of ${found} written; the other sessions have changed meanwhile`);
      });
    });
}
