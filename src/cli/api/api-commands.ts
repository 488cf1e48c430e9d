import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { BEYOND } from './beyond.js';
import { bulkCommands } from './bulk-decision.command.js';
import { campaignResultCommand } from './campaign-result.command.js';
import { customersCommands } from './customers.command.js';
import { importCommand } from './import.command.js';
import { operationCommand } from './operation-command.js';
import {
  operationsOf,
  resolverOf,
  type Description,
  type Operation,
  type Resolve,
} from './operation.rules.js';
import type { FindApi } from './service-api.js';
import { sessionCommand } from './session.command.js';
import { tailCommand } from './tail.command.js';

type Make = (findApi: FindApi, operation: Operation, resolve: Resolve) => Command[];

/** The commands that are more than a call, by the words that openapi.json has for the operation. */
const BY_HAND: Readonly<Record<string, Make | undefined>> = {
  'sessions show': (...given) => [sessionCommand(...given)],
  'registrations decide': (findApi) => bulkCommands(findApi),
  'customers show': (...given) => customersCommands(...given),
  import: (findApi, operation) => [importCommand(findApi, operation)],
  'campaigns result': (findApi) => [campaignResultCommand(findApi)],
  'events tail': (findApi) => [tailCommand(findApi)],
};

const readDescription = (): Description =>
  JSON.parse(readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8')) as Description;

/** Returns the commands of the operations in `description`: those of one word, and a group for each first word of the others. */
export function apiCommands(findApi: FindApi, description: Description = readDescription()): Command[] {
  const resolve = resolverOf(description);
  const operations = operationsOf(description);
  const commands = new Map<string, Command>();
  for (const operation of operations) {
    const { operationId, command } = operation;
    const [first = '', ...rest] = command.split(' ');
    const list = operations.find((each) => each.command === `${first} list`)?.command;
    const made = BY_HAND[command]?.(findApi, operation, resolve) ?? [
      operationCommand(findApi, resolve, operation, BEYOND[operationId], list),
    ];
    const group = commands.get(first) ?? new Command(first);
    for (const each of made) commands.set(first, rest.length === 0 ? each : group.addCommand(each));
    if (rest.length > 0) group.description(group.commands.map((each) => each.name()).join(', '));
  }
  return [...commands.values()];
}
