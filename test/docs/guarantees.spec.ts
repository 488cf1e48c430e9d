import { beforeAll, describe, expect, it } from '@jest/globals';
import { readPage as read } from './readme.js';

describe('docs/guarantees.md', () => {
  let rows: { readonly id: string; readonly cells: readonly string[] }[];
  beforeAll(async () => {
    const text = await read('docs/guarantees.md');
    rows = [...text.matchAll(/^\| (R\d+) +\|(.*)\|$/gm)].map(([, id = '', cells = '']) => ({
      id,
      cells: cells.split(' | ').map((cell) => cell.trim()),
    }));
  });

  it('has a row for every promise', async () => {
    const promises = await read('scripts/promises.mjs');
    const ids = [...promises.matchAll(/^ {2}\{ id: '(R\d+)', promise: '[^']*' \}/gm)].map(([, id]) => id);
    expect(ids.length).toBeGreaterThan(30);
    const missing = ids.filter((id) => !rows.some((row) => row.id === id));
    expect(missing).toEqual([]);
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
  });

  it('says how each is proven, and leads to tests that name it', async () => {
    for (const { id, cells } of rows) {
      expect([id, cells.length]).toEqual([id, 5]);
      const links = [...cells[1]!.matchAll(/\]\(\.\.\/([^)]+\.spec\.ts)\)/g)].map(([, path = '']) => path);
      const tests = await Promise.all(links.map(read));
      const proves = tests.some((test) => new RegExp(`['"\`]${id}[: ]`).test(test));
      expect([id, links.length > 0, proves]).toEqual([id, true, true]);
    }
  });
});
