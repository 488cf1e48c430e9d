import { Command } from 'commander';
import type { InverterView } from '../../onboarding/api/sessions.view.js';
import { readId } from '../command-environment.js';
import { listCommand } from './list-command.js';
import { age, cut } from './output.js';
import type { FindApi } from './service-api.js';

export function invertersCommand(findApi: FindApi): Command {
  const inverters = new Command('inverters').description('list the inverters of all sessions');
  inverters.addCommand(
    listCommand<InverterView>('list', 'list inverters, newest first', findApi, '/inverters', {
      ID: ({ id }) => id,
      SESSION: ({ sessionId }) => sessionId,
      SEEN: ({ lastSeenAt }) => age(lastSeenAt),
      MISSING: ({ missingSince }) => age(missingSince),
      BRAND: ({ brand }) => cut(brand, 8),
    })
      .option('--user-id <id>', 'only of this user', readId)
      .option('--grid-location-id <id>', 'only of this grid location', readId),
  );
  return inverters;
}
