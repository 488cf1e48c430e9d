import type { Command } from 'commander';
import { print, printYaml } from '../print.js';
import { ApiCommand } from './api-command.js';
import type { FindApi } from './service-api.js';
import { age, cut, printTable } from './table.js';

export function customersCommand(findApi: FindApi): Command {
  const customers = new ApiCommand('customers', findApi).description(
    'show what a customer waits for, why, and what is next',
  );
  customers
    .command('show')
    .description('show the customers with this reference or EAN, and the case of each grid location')
    .option('--reference <text>', 'the tenantReference of the customer')
    .option('--ean <digits>', 'an EAN; several customers may have it')
    .calls(
      (client, { reference: tenantReference, ean }: { reference?: string; ean?: string }) =>
        client.GET('/api/v1/customers', { params: { query: { tenantReference, ean } } }),
      ({ items }) => {
        for (const { tenantReference, waitsFor, why, next, registration, cases } of items) {
          printYaml({ tenantReference, registration: registration?.status ?? null, waitsFor, why, next });
          for (const { gridLocationId, ean, sessions, expected, online, missing, ...each } of cases) {
            print('');
            const decision = { waitsFor: each.waitsFor, why: each.why, next: each.next };
            printYaml({ gridLocationId, ean, ...decision, expected, online, missing });
            if (sessions.length === 0) continue;
            printTable(
              {
                SESSION: ({ id }) => id,
                BRAND: ({ brand }) => cut(brand, 16),
                STATE: ({ state }) => state,
                SINCE: ({ stateChangedAt }) => age(stateChangedAt),
                INVERTERS: ({ inverters }) => inverters.length,
              },
              sessions,
            );
          }
          print('');
        }
      },
    );
  return customers;
}
