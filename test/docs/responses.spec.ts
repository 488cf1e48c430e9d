import { randomUUID } from 'node:crypto';
import { runInNewContext } from 'node:vm';
import { expect, it } from '@jest/globals';
import { ENVIRONMENT_NAMES } from '../../src/platform/env/environment-names.js';
import { TestClient } from '../setup/client.js';
import { useTestApp } from '../setup/test-app.js';
import { readPage, sectionOf } from './pages.js';

const service = useTestApp({ ROLE: 'api' });
const client = TestClient.of(service);

const blocksOf = (section: string, language: string): string[] =>
  [...section.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(([, text]) => text!);

/** Returns the body of an example. What it leaves out, it shows as `…`. */
const bodyOf = (block: string): object =>
  JSON.parse(block.slice(block.search(/^\{/m)).replace(/, …/g, '')) as object;

/** Replaces ids, links, times and sequences, which differ between runs. */
const masked = (text: string): string =>
  text
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>')
    .replace(/^https?:\/\/[^/]+\/pv-onboarding\/.+$/, '<link>')
    .replace(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/, '<time>')
    .replace(/^\d{19}$/, '<sequence>');

/** Returns the part of a response that an example shows. */
function shown(value: unknown, example: unknown): unknown {
  if (typeof value === 'string') return masked(value);
  if (typeof value !== 'object' || value === null || typeof example !== 'object') return value;
  if (Array.isArray(value)) return value.map((each, nth) => shown(each, (example as unknown[])[nth]));
  return Object.fromEntries(
    Object.entries(example ?? {}).map(([name, each]) => [
      name,
      shown((value as Record<string, unknown>)[name], each),
    ]),
  );
}

async function check(block: string, method: string, path: string, body?: unknown): Promise<void> {
  const { status, headers, body: answer } = await client.call(method, path, body);
  const example = bodyOf(block);
  expect(shown(answer, example)).toEqual(shown(example, example));
  const [first = '', ...rest] = block.slice(0, block.search(/^\{/m)).split('\n').filter(Boolean);
  if (first !== '') expect(`HTTP/1.1 ${status}`).toBe(/^HTTP\/1.1 \d+/.exec(first)![0]);
  for (const line of rest) {
    const [name = '', value = ''] = line.split(': ');
    expect([name, masked(headers.get(name) ?? '')]).toEqual([name, masked(value)]);
  }
}

it('the requests of docs/api.md get the responses that it shows', async () => {
  const page = await readPage('docs/api.md');
  const [request = '', created = '', conflict = ''] = blocksOf(
    sectionOf(page, 'register-a-customer'),
    'http',
  );
  expect(request).toMatch(/^POST \/api\/v1\/users\n/);
  await check(created, 'POST', '/users', bodyOf(request));
  const other = { ...bodyOf(request), gridLocations: [{ ean: '871685900000000028' }] };
  await check(conflict, 'POST', '/users', other);
  const { tenantReference } = bodyOf(request) as { tenantReference: string };
  const query = `/customers?tenantReference=${tenantReference}`;
  const [customer = ''] = blocksOf(sectionOf(page, 'what-a-customer-waits-for'), 'http');
  await check(customer, 'GET', query);
  const { body: again } = await client.call<{ gridLocations: { id: string }[] }>(
    'POST',
    '/users',
    bodyOf(request),
  );
  const [start = '', started = ''] = blocksOf(sectionOf(page, 'start-a-session'), 'http');
  expect(start).toMatch(/^POST \/api\/v1\/onboarding\/pv\//);
  await check(started, 'POST', `/onboarding/pv/${again.gridLocations[0]!.id}`, bodyOf(start));
});

it('a lost response is the 202 of docs/registrations.md', async () => {
  const page = await readPage('docs/registrations.md');
  const [accepted = ''] = blocksOf(sectionOf(page, 'what-post-users-returns'), 'http');
  await service.sandbox!.control.addFault({ kind: 'reset', operation: 'register_user', effect: true });
  const { tenantReference } = bodyOf(accepted) as { tenantReference: string };
  await check(accepted, 'POST', '/users', {
    tenantReference,
    gridLocations: [{ ean: '871685900000000035' }],
  });
});

it('the loop of docs/events.md reads each event once', async () => {
  const [loop = ''] = blocksOf(await readPage('docs/events.md'), 'js');
  await client.locate(randomUUID());
  const read: unknown[] = [];
  let stored = '0';
  const tools = {
    load: () => stored,
    save: (next: string) => (stored = next),
    get: async (path: string) => (await client.call('GET', path.replace('/api/v1', ''))).body,
    apply: (event: { id: string }) => read.push(event.id),
    sleep: () => {
      throw new Error('nothing new');
    },
  };
  const run = () => runInNewContext(`(async () => {${loop}})()`, tools) as Promise<void>;
  await expect(run()).rejects.toThrow('nothing new');
  await client.locate(randomUUID());
  await expect(run()).rejects.toThrow('nothing new');
  const { body } = await client.call<{ items: { id: string }[] }>('GET', '/events?after=0&limit=200');
  expect(read).toEqual(body.items.map(({ id }) => id));
  expect(read.length).toBeGreaterThan(1);
});

it('the settings of docs/console.md exist', async () => {
  const [settings = ''] = blocksOf(await readPage('docs/console.md'), 'sh');
  const names = settings
    .trim()
    .split('\n')
    .map((line) => line.split('=')[0]!.replace(/_FILE$/, ''));
  expect(names.filter((name) => !ENVIRONMENT_NAMES.includes(name as never))).toEqual([]);
});
