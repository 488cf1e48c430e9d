import type { Command } from 'commander';
import type { Schemas } from '#client/client.js';
import { CommandError } from '../command-error.js';
import { operationCommand } from './operation-command.js';
import type { Operation, Resolve } from './operation.rules.js';
import type { FindApi } from './service-api.js';

const OF_ONE: readonly string[] = ['tenantReference', 'ean'];

/** Returns two commands of one operation, which lists customers, or reads one by its reference or EAN. */
export function customersCommands(findApi: FindApi, operation: Operation, resolve: Resolve): Command[] {
  const { inputs, responses, returns } = operation;
  const [, one] = responses?.['200']?.content?.[returns![0]]?.schema?.oneOf ?? [];
  const show: Operation = {
    ...operation,
    summary: 'read the cases of a customer, by reference or EAN',
    inputs: inputs.filter(({ name }) => OF_ONE.includes(name)),
    returns: [returns![0], resolve(one)],
  };
  const list: Operation = {
    ...operation,
    command: 'customers list',
    summary: 'list customers and who is waited for at each, the newest first',
    inputs: inputs.filter(({ name }) => !OF_ONE.includes(name)),
  };
  return [
    operationCommand(findApi, resolve, show, {
      names: { tenantReference: 'reference' },
      values: (values) => {
        if (OF_ONE.every((name) => values[name] === undefined))
          throw new CommandError('usage', 'Give --reference or --ean.', 2);
        return values;
      },
      shows: ({ items }: Schemas['CustomersView']) => ({
        items: items.map(({ user: _, registration, ...customer }) => ({
          ...customer,
          registration: registration?.status ?? null,
        })),
      }),
    }),
    operationCommand(findApi, resolve, list),
  ];
}
