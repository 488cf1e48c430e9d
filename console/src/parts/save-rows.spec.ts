import { afterEach, expect, it, jest } from '@jest/globals';
import { has, saveRows } from './save-rows.js';
import type { Column } from './table.js';

interface Row {
  readonly name: string;
  readonly count: number;
  readonly note: string | null;
}

const columns: readonly Column<Row>[] = [
  { title: 'Name', of: ({ name }) => name },
  { title: 'Count', of: ({ count }) => count },
  { title: 'Icon', of: () => ({}) as never },
  { title: 'Note', of: () => 'shown', text: ({ note }) => note },
];
const row = (name: string, count: number, note: string | null = null): Row => ({ name, count, note });

it.each([
  ['ann', true],
  [' ANNA ', true],
  ['12', true],
  ['anna12', false],
  ['shown', false],
  ['later', true],
  ['object', false],
])('a row has %j in a column: %s', (text, isFound) =>
  expect(has(columns, row('Anna', 12, 'Later'), text)).toBe(isFound),
);

afterEach(() => {
  jest.restoreAllMocks();
  jest.useRealTimers();
});

it.each([
  ['without the columns that no row has', [row('Anna', 1), row('Bob', 0)], 'Name,Count\r\nAnna,1\r\nBob,0'],
  [
    'with those that one row has',
    [row('Anna', 1), row('Bob', 0, 'x')],
    'Name,Count,Note\r\nAnna,1,\r\nBob,0,x',
  ],
])('rows are saved %s', async (_, rows, text) => {
  jest.useFakeTimers({ now: new Date('2026-11-30T23:59:00Z') });
  const link = { href: '', download: '', click: jest.fn() };
  Object.assign(globalThis, { document: { createElement: () => link } });
  const create = jest.spyOn(URL, 'createObjectURL').mockReturnValue('blob:1');
  const revoke = jest.spyOn(URL, 'revokeObjectURL');
  saveRows('Failed deliveries of all', columns, rows);
  expect(link).toMatchObject({ href: 'blob:1', download: 'failed-deliveries-of-all-2026-11-30.csv' });
  expect([link.click.mock.calls.length, revoke.mock.calls.length]).toEqual([1, 0]);
  const [file] = create.mock.lastCall as [Blob];
  expect([file.type, await file.text()]).toEqual(['text/csv;charset=utf-8', `${text}\r\n`]);
  jest.advanceTimersByTime(60_000);
  expect(revoke).toHaveBeenLastCalledWith('blob:1');
});
