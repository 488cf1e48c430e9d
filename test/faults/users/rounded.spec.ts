import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openFile } from '../../../src/campaigns/intake/read-file.js';
import {
  addRow,
  noLooks,
  roundedFileFault,
  roundedLines,
} from '../../../src/campaigns/intake/rounded.rules.js';
import { parseLossless } from '../../../src/platform/json/lossless.js';
import { hasValidCheckDigit } from '../../../src/platform/ean-digits.rules.js';
import { roundedEans, type CheckDigitRule } from '../../../src/users/ean.rules.js';
import type { Look } from '../../../src/users/rounded.rules.js';
import { upload } from '../../campaigns/campaign-client.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';
import { isLong, itAtLength, promise } from '../support/promise.js';

const EANS = isLong ? 100_000 : 8_000;
const ROWS_PER_FILE = 100;

/** Returns the digits of a double as a decimal with this many significant digits, and zeros for the others. */
const inDigits = (value: number, significant?: number): string => {
  const [mantissa = '', exponent] = value
    .toExponential(significant && significant - 1)
    .replace('.', '')
    .split('e+');
  return mantissa.padEnd(Number(exponent) + 1, '0');
};

/** How eight programs write an EAN that they have read as a number. */
const PROGRAMS: Record<string, (ean: string) => string> = {
  'Excel, which cuts after 15 digits': (ean) => `${ean.slice(0, 15)}000`,
  'LibreOffice, which rounds to 15 digits': (ean) => inDigits(Number(ean), 15),
  'pandas on a workbook': (ean) => BigInt(Number(inDigits(Number(ean), 15))).toString(),
  'SheetJS and Apps Script': (ean) => String(Number(ean)),
  'JSON.parse and JSON.stringify': (ean) => JSON.stringify(JSON.parse(ean)),
  'printf "%.0f"': (ean) => Number(ean).toFixed(0),
  'a reader of the 17 digits of a workbook': (ean) => inDigits(Number(ean), 17),
  'a column of single precision': (ean) => BigInt(Math.fround(Number(ean))).toString(),
};

/** Makes each run read the same numbers: an unlucky run of others could miss a bound. */
let seed = 20_261_128;
function randomInt(below: number): number {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((seed / 2 ** 32) * below);
}

const PREFIXES = ['8716', '8717', '5414'];
const withCheckDigit = (data: string): string =>
  Array.from({ length: 10 }, (_, digit) => `${data}${digit}`).find(hasValidCheckDigit)!;

/** Returns a random EAN of the Netherlands or of Belgium. */
function randomEan(isValid: boolean): string {
  const prefix = PREFIXES[randomInt(PREFIXES.length)]!;
  const data = Array.from({ length: 17 - prefix.length }, () => randomInt(10)).join('');
  return isValid ? withCheckDigit(prefix + data) : `${prefix}${data}${randomInt(10)}`;
}

const randomEans = (count: number, isValid: boolean) =>
  Array.from({ length: count }, () => randomEan(isValid));

/** Returns those EANs that a program changes, as it writes them. */
const changed = (write: (ean: string) => string, eans: readonly string[]): string[] =>
  eans.map((ean) => (write(ean) === ean ? '' : write(ean))).filter((ean) => ean !== '');

const isRefusedAlone = (json: string, rule: CheckDigitRule): boolean =>
  roundedEans(parseLossless(`{"gridLocations":[{"ean":${json}}]}`), rule).length > 0;

const UUID = '0b3c1c53-8f43-4c7e-8a55-0a5a3c1e7d10';
const WAYS: Record<
  string,
  { readonly header: string; readonly adopts: boolean; readonly line: (ean: string, at: number) => string }
> = {
  CSV: { header: 'tenantReference,ean\n', adopts: false, line: (ean, at) => `C-${at},${ean}` },
  'NDJSON with texts': {
    header: '',
    adopts: false,
    line: (ean, at) => `{"tenantReference":"C-${at}","ean":"${ean}"}`,
  },
  'NDJSON with numbers': {
    header: '',
    adopts: false,
    line: (ean, at) => `{"tenantReference":"C-${at}","ean":${ean}}`,
  },
  adoption: {
    header: '',
    adopts: true,
    line: (ean, at) =>
      `{"tenantReference":"C-${at}","user":{"id":"${UUID}","gridLocations":[{"id":"${UUID}","ean":"${ean}"}]}}`,
  },
};

interface Reading {
  readonly way: string;
  readonly rule: CheckDigitRule;
  /** Whether a form is known as one of rounded numbers. */
  readonly knows?: (form: Look['form']) => boolean;
}

/** Reads a file as the intake does. Returns how many of its rows are refused. */
async function countRefused(
  eans: readonly string[],
  { way, rule, knows = () => true }: Reading,
): Promise<number> {
  const { header, adopts, line } = WAYS[way]!;
  async function* bytes() {
    yield Buffer.from(header + eans.map(line).join('\n'));
  }
  const { rows } = await openFile(bytes(), rule, { adopts, encoding: null, mapping: new Map() });
  const looks = noLooks();
  let refused = 0;
  for await (const row of rows) {
    const known = row.looks.map((look) => (knows(look.form) ? look : { ...look, form: undefined }));
    addRow(looks, { ...row, looks: known });
    if (row.problems.some(({ code }) => code === 'ean_rounded') && known.some(({ form }) => form))
      refused += 1;
  }
  return roundedFileFault(looks, rule, false) === undefined
    ? refused + roundedLines(looks, rule).length
    : eans.length;
}

async function shareRefusedInFiles(eans: readonly string[], reading: Reading): Promise<number> {
  let refused = 0;
  for (let at = 0; at < eans.length; at += ROWS_PER_FILE)
    refused += await countRefused(eans.slice(at, at + ROWS_PER_FILE), reading);
  return refused / eans.length;
}

/** Sends a part of the EANs by each way in, with and without check digits. */
function shareRefusedByEachReading(eans: readonly string[]): Promise<number[]> {
  const readings = Object.keys(WAYS).flatMap((way) =>
    (['warn', 'off'] as const).map((rule) => ({ way, rule })),
  );
  const length = Math.max(ROWS_PER_FILE, Math.floor(eans.length / readings.length));
  return Promise.all(
    readings.map((reading, nth) => {
      const start = Math.min(nth * length, eans.length - length);
      return shareRefusedInFiles(eans.slice(start, start + length), reading);
    }),
  );
}

const percent = (share: number): string => `${(share * 100).toFixed(2)} %`;

describe('R83: no EAN is taken whose digits a program before us has lost', () => {
  const alone = { refused: 0, of: 0 };
  const shares = { files: 1 };

  it.each(Object.entries(PROGRAMS))(`of ${EANS / 8} that are rounded by %s`, async (_, write) => {
    const rounded = changed(write, randomEans(EANS / 8 + EANS / 40, true)).slice(0, EANS / 8);
    for (const json of [(ean: string) => ean, (ean: string) => `"${ean}"`]) {
      alone.refused += rounded.filter((ean) => isRefusedAlone(json(ean), 'warn')).length;
      alone.of += rounded.length;
    }
    for (const share of await shareRefusedByEachReading(rounded))
      shares.files = Math.min(shares.files, share);
    expect(shares.files).toBeGreaterThanOrEqual(0.99);
  });

  it(`of ${EANS} that are true, none with a valid check digit`, async () => {
    const [valid, any] = [randomEans(EANS, true), randomEans(EANS, false)];
    const countAlone = (eans: readonly string[], rule: CheckDigitRule) =>
      eans.filter((ean) => isRefusedAlone(`"${ean}"`, rule)).length;
    const refused = [countAlone(valid, 'warn')];
    refused.push(...(await shareRefusedByEachReading(valid)));
    const ofAny = countAlone(any, 'warn') / EANS;
    promise('R83', {
      figure:
        `of rounded EANs refused: ${percent(shares.files)} in files of ${ROWS_PER_FILE}, ${percent(alone.refused / alone.of)} alone; ` +
        `of true ones: ${Math.max(...refused)} of ${EANS} with a valid check digit, ${percent(ofAny)} with any`,
      bound: '99 %, 89 %, 0',
    });
    expect(alone.refused / alone.of).toBeGreaterThanOrEqual(0.89);
    expect(new Set(refused)).toEqual(new Set([0]));
    expect(ofAny).toBeLessThan(0.05);
    expect(countAlone(any, 'off')).toBe(0);
  });

  describe('through the API', () => {
    let app: TestApp;
    beforeAll(async () => {
      app = await startTestApp({ ROLE: 'api' });
    });
    afterAll(() => app.close());

    it('refuses a file of them as one, and takes the file of true ones', async () => {
      const eans = randomEans(ROWS_PER_FILE, true);
      const file = (of: readonly string[]) =>
        `tenantReference,ean\n${of.map((ean, at) => `C-${at},${ean}`).join('\n')}`;
      for (const write of Object.values(PROGRAMS)) {
        const { status, body } = await upload(app, file(eans.map(write)));
        expect([status, body.code]).toEqual([400, 'campaign_rounded']);
      }
      const { status, body } = await upload(app, file(eans));
      expect([status, body.counts.accepted]).toEqual([202, ROWS_PER_FILE]);
    });
  });

  itAtLength('turns red when only the sign of one program is known', async () => {
    const reading = {
      way: 'CSV',
      rule: 'warn',
      knows: (form: Look['form']) => form === 'fifteen_digits',
    } as const;
    const shareOf = (program: string) =>
      shareRefusedInFiles(changed(PROGRAMS[program]!, randomEans(10_000, true)), reading);
    expect(await shareOf('Excel, which cuts after 15 digits')).toBeGreaterThan(0.99);
    expect(await shareOf('pandas on a workbook')).toBeLessThan(0.1);
    expect(await shareOf('SheetJS and Apps Script')).toBeLessThan(0.2);
  });
});
