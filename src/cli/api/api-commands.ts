import type { Command } from 'commander';
import { eventsCommand } from './events.command.js';
import { invertersCommand } from './inverters.command.js';
import { registrationsCommand } from './registrations.command.js';
import type { FindApi } from './service-api.js';
import { sessionsCommand } from './sessions.command.js';
import { statusCommand } from './status.command.js';
import { usersCommand } from './users.command.js';
import { webhooksCommand } from './webhooks.command.js';

/** Returns the commands that call the API of a running service. */
export const apiCommands = (findApi: FindApi): Command[] =>
  [
    statusCommand,
    usersCommand,
    registrationsCommand,
    sessionsCommand,
    invertersCommand,
    webhooksCommand,
    eventsCommand,
  ].map((make) => make(findApi));
