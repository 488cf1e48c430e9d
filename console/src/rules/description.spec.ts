import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { BULK } from './bulk.js';
import { EVENT_TYPES } from './event-types.js';
import { PRESETS, SCOPE_WORDS } from './presets.js';
import { REMEDY_OPERATIONS, WORK_SCOPES } from './stalled.js';

interface Operation {
  readonly operationId: string;
  readonly description: string;
  readonly 'x-required-scope'?: string;
  readonly 'x-bulk'?: boolean;
  readonly requestBody?: { readonly required?: boolean };
}
interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: {
      readonly NewApiKey: {
        readonly properties: { readonly scopes: { readonly items: { readonly enum: readonly string[] } } };
      };
      readonly WebhookEventType: { readonly enum: readonly string[] };
    };
  };
}

const fileOf = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
const { paths, components } = JSON.parse(fileOf('openapi.json')) as Description;
const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
const operationOf = (id: string) => operations.find(({ operationId }) => operationId === id);

it('has words for each scope of the API, and for no other', () => {
  const scopes = components.schemas.NewApiKey.properties.scopes.items.enum;
  expect(Object.keys(SCOPE_WORDS).sort()).toEqual([...scopes].sort());
});

it('offers exactly the types of events of the API', () => {
  const names = Object.entries(EVENT_TYPES).flatMap(([subject, events]) =>
    events.map((event) => `${subject}.${event}`),
  );
  const types = components.schemas.WebhookEventType.enum.filter((type) => !type.startsWith('pv.'));
  expect(names.sort()).toEqual([...types].sort());
});

it('offers for many exactly the operations that the API does for many', () => {
  const bulk = operations.filter((operation) => operation['x-bulk'] === true);
  expect([...BULK].sort()).toEqual(bulk.map(({ operationId }) => operationId).sort());
});

it.each(Object.entries(REMEDY_OPERATIONS))(
  'needs for the remedy %s the scopes of the API, and a body if the API does',
  (id, { scopes, needsBody }) => {
    expect(scopes.join(' | ')).toBe(operationOf(id)?.['x-required-scope']);
    expect(needsBody).toBe(operationOf(id)?.requestBody?.required === true);
  },
);

it.each(Object.entries(WORK_SCOPES))('lets the scopes of the API work on a stalled %s', (kind, scopes) => {
  const words = scopes.map((scope) => `\`${scope}\``).join(' or ');
  expect(operationOf('workOnStalled')?.description).toContain(`for ${kind} ${words}`);
});

it.each(Object.values(PRESETS))(
  'gives $title the scopes of the recipe in docs/api.md',
  ({ title, scopes }) => {
    const row = fileOf('docs/api.md')
      .split('\n')
      .find((line) => new RegExp(`^\\| ${title} +\\|`, 'i').test(line));
    const [, , recipe = ''] = (row ?? '').split('|');
    expect(recipe.match(/[a-z]+(?::[a-z]+)?/g)?.sort()).toEqual([...scopes].sort());
  },
);
