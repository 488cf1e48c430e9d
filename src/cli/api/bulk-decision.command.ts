import { counted } from '../../platform/counted.rules.js';
import { Option, type Command } from 'commander';
import type { Client, Registration, Schemas } from '#client/client.js';
import { pages } from '#client/pages.js';
import type { BulkDecision } from '../../decisions/decisions.dto.js';
import { DECIDABLE } from '../../decisions/decision.rules.js';
import { visibleText } from '../../platform/redaction/visible-text.js';
import { printYaml } from '../print.js';
import { ApiCommand } from './api-command.js';
import type { FindApi } from './service-api.js';
import { printTable, toSecond } from './table.js';

/** The options of the command are parameters of the API. Only `status` is mandatory. */
type Filter = Pick<Registration, 'status'>;

/** The maximum number of registrations in one call, which then takes at most a few seconds. */
const PER_CALL = 500;
/** The maximum number of errors that the summary names. */
const NAMED_ERRORS = 5;

const EFFECT = {
  retry: {
    description: 'send all registrations that match again; first ask the provider which users exist',
    does: 'sends again',
    danger:
      'For each whose earlier call took effect, a second user is created at the provider. This cannot be undone.',
  },
  discard: {
    description: 'give all registrations up that match',
    does: 'gives up',
    danger: 'If a user exists after all, `registrations resolve` can still enter it.',
  },
};

export const bulkCommands = (findApi: FindApi): Command[] =>
  (['retry', 'discard'] as const).map((decision) => bulkCommand(findApi, decision));

/** Returns the command that lists all registrations that match, and then decides about exactly those. */
function bulkCommand(findApi: FindApi, decision: BulkDecision['decision']): Command {
  const { description, does, danger } = EFFECT[decision];
  const found: Registration[] = [];
  return new ApiCommand(`${decision}-all`, findApi)
    .description(description)
    .addOption(
      new Option('--status <status>', 'only in this status')
        .choices([...DECIDABLE[decision]])
        .makeOptionMandatory(),
    )
    .option('--created-since <instant>', 'only those created at or after this instant')
    .option('--created-before <instant>', 'only those created before this instant')
    .option('--last-error <text>', 'only those whose lastError contains this text')
    .confirms(async (client, filter: Filter) => {
      for await (const page of pages(client, '/api/v1/registrations', { ...filter, limit: 200 }))
        found.push(...page);
      return found.length === 0 ? undefined : `this ${does} ${summaryOf(found)}${danger}`;
    })
    .calls(
      async (client) => {
        const items = await decideAll(client, decision, found);
        const refused = items.filter(({ ok }) => !ok);
        if (refused.length > 0) process.exitCode = 1;
        return { data: { decided: items.length - refused.length, refused } };
      },
      ({ decided, refused }) => {
        printYaml({ decided, refused: refused.length });
        if (refused.length > 0) printTable({ ID: ({ id }) => id, WHY: ({ detail }) => detail }, refused);
      },
    );
}

/** Returns the number of registrations, when they were created, and the most frequent errors of their calls. */
function summaryOf(found: readonly Pick<Registration, 'status' | 'createdAt' | 'lastError'>[]) {
  const counts = new Map<string, number>();
  for (const { lastError } of found) {
    const error = lastError ?? 'no error';
    counts.set(error, (counts.get(error) ?? 0) + 1);
  }
  const errors = [...counts].sort(([, one], [, other]) => other - one);
  const named = errors.slice(0, NAMED_ERRORS).map(([error, count]) => `\n  ${count} × ${visibleText(error)}`);
  const more =
    errors.length > NAMED_ERRORS
      ? `\n  and ${counted(errors.length - NAMED_ERRORS, 'other error', 'other errors')}`
      : '';
  const [newest, oldest] = [found[0]!, found.at(-1)!].map(({ createdAt }) => toSecond(createdAt));
  return `${counted(found.length, `${found[0]!.status} registration`, `${found[0]!.status} registrations`)}, created from ${oldest} to ${newest}:${named.join('')}${more}\n`;
}

/** Decides about the listed registrations, except those that have changed since. */
async function decideAll(client: Client, decision: BulkDecision['decision'], found: readonly Registration[]) {
  const lastChange = Math.max(...found.map(({ updatedAt }) => Date.parse(updatedAt)));
  const items: Schemas['DecisionsView']['items'] = [];
  for (let from = 0; from < found.length; from += PER_CALL) {
    const ids = found.slice(from, from + PER_CALL).map(({ id }) => id);
    const body = { decision, ids, unchangedSince: new Date(lastChange + 1).toISOString() };
    items.push(...(await client.POST('/api/v1/registrations/decisions', { body })).data.items);
  }
  return items;
}
