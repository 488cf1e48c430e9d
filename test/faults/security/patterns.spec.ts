import { describe, expect, it } from '@jest/globals';
import { patternsOfCode, slowestRun } from '../support/patterns.js';
import { itAtLength, promise } from '../support/promise.js';

/** A linear pattern takes less than 1 ms for 16 kB, a quadratic one more than 50 ms. */
const LIMIT_MS = 25;

const { patterns, built } = patternsOfCode();
const literal = ({ source, flags }: RegExp) => ({ place: '', source, flags });

describe('R79: strangers hold nothing, by the patterns of the code', () => {
  it('builds a pattern only from constants, from secrets and routes that are escaped, and from the separator of a file or the name of an attribute', () => {
    expect(patterns.length).toBeGreaterThan(150);
    expect(built).toEqual([
      'src/auth/token.client.ts',
      'src/campaigns/excel.rules.ts',
      'src/campaigns/intake/csv-reader.ts',
      'src/platform/problem/problem.filter.ts',
      'src/platform/redaction/secrets.ts',
      'src/spreadsheet/sheet-xml.rules.ts',
    ]);
  });

  itAtLength('matches 16 kB of pumped text with every pattern in linear time', () => {
    const runs = patterns.map((pattern) => ({ ...pattern, ...slowestRun(pattern, LIMIT_MS) }));
    const slow = runs
      .filter(({ ms }) => ms > LIMIT_MS)
      .map(({ place, source, text }) => `${place} /${source}/: ${text}`);
    const slowest = Math.max(...runs.map(({ ms }) => ms));
    promise('R79', {
      figure: `${patterns.length} patterns, at most ${slowest.toFixed(1)} ms for 16 kB`,
      bound: `${LIMIT_MS} ms`,
    });
    expect(slow).toEqual([]);
  });

  itAtLength('turns red when a pattern of the code takes quadratic or exponential time', () => {
    const bugs = [
      /\/+$/,
      /\s*;\s*q=/,
      /"(?:[^"\\]|\\.)*"/g,
      /\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g,
      /^(?:\w+\s?)+$/,
    ];
    const found = bugs.filter((bug) => slowestRun(literal(bug), LIMIT_MS).ms > LIMIT_MS);
    expect(found).toEqual(bugs);
  });
});
