import { beforeAll, describe, expect, it } from '@jest/globals';
import { Environment } from '../../src/platform/env/environment.js';
import { readPage, rowsOf } from './readme.js';

type Cell = string | number | null;

/** Returns the number in a column of a row of a table that `npm run bench` has measured. */
async function measured(benchmark: string, row: string, column: string): Promise<number> {
  const { tables } = JSON.parse(await readPage(`bench/results/${benchmark}.json`)) as {
    tables: { columns: string[]; rows: Cell[][] }[];
  };
  for (const { columns, rows } of tables) {
    const cell = rows.find(([name]) => String(name) === row)?.[columns.indexOf(column)];
    if (typeof cell === 'number') return cell;
  }
  throw new Error(`bench/results/${benchmark}.json has no ${column} of ${row}`);
}

/** The assumptions of the page. */
const REMOTE_LATENCY_S = 0.1;
const SPARE_WORKERS = 1;
const API_PROCESSES = 2;
const BYTES_IN_MEMORY = 1_170;
const BYTES_A_YEAR = 12_700;

const rounded = (value: number): string => String(Number(value.toPrecision(2)));
const bytes = (value: number): string =>
  value < 1e9 ? `${rounded(value / 1e6)} MB` : `${rounded(value / 1e9)} GB`;

describe('the table of processes in docs/deployment.md', () => {
  let page: string;
  beforeAll(async () => {
    page = await readPage('docs/deployment.md');
  });

  it('follows from the measurements', async () => {
    const budget = '1,000 at 2; 10,000 at 20; 100,000 at 200';
    const perSession = ((await measured('freshness', budget, 'used budget')) * 200) / 100_000;
    const ownSeconds = (await measured('flat', '1000000', 'own CPU µs per poll')) / 1e6;
    const postgresSeconds = (await measured('flat', '1000000', 'PostgreSQL CPU µs per poll')) / 1e6;
    const megabytes = await measured('flat', '1000000', 'memory MB, median');
    expect(megabytes).toBeLessThan(512);
    const { SCS_MAX_CONCURRENCY, DATABASE_POOL_SIZE } = new Environment();
    const expected = [10_000, 100_000, 1_000_000].map((customers) => {
      const reads = customers * perSession;
      const workers = Math.ceil((reads * REMOTE_LATENCY_S) / (SCS_MAX_CONCURRENCY - 1)) + SPARE_WORKERS;
      const processes = API_PROCESSES + workers;
      return [
        customers.toLocaleString('en'),
        rounded(reads),
        `${API_PROCESSES} api, ${workers} workers`,
        rounded(reads * ownSeconds),
        `${rounded(processes * 0.512)} GB`,
        rounded(reads * postgresSeconds),
        bytes(customers * BYTES_IN_MEMORY),
        String(processes * (DATABASE_POOL_SIZE + 3) + workers * 4),
        bytes(customers * BYTES_A_YEAR),
      ];
    });
    expect(rowsOf(page, 'sizes')).toEqual(expected);
  });

  it('names what one process does as it was measured', async () => {
    const figures = [
      `${(await measured('api', 'our service, with its key checked', 'requests/s')).toLocaleString('en')} times a second`,
      `${(await measured('flat', '1000000', 'reads/s')).toLocaleString('en')} sessions a second`,
      `${await measured('flat', '1000000', 'memory MB, median')} MB`,
    ];
    for (const figure of figures) expect(page.replace(/\s+/g, ' ')).toContain(figure);
  });
});
