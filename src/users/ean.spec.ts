import { describe, expect, it } from '@jest/globals';
import { eansIn, hasValidCheckDigit } from '../platform/ean-digits.rules.js';
import { parseLossless } from '../platform/json/lossless.js';
import {
  eanFault,
  readEan,
  readGridLocations,
  roundedEans,
  type CheckDigitRule,
  warnOfOthers,
} from './ean.rules.js';
import { roundedForm } from './rounded.rules.js';

const fromJson = (text: string): unknown => parseLossless(text);

describe('an EAN', () => {
  it.each(['"541448860004178019"', '541448860004178019', '999999999999999999', '100000000000000000'])(
    'is read digit by digit from %s',
    (json) => {
      expect(eanFault(fromJson(json))).toBeUndefined();
      expect(readEan(fromJson(json))).toBe(json.replaceAll('"', ''));
    },
  );

  it.each([
    ['"54144886000417801"', 'must have 18 digits, not 17'],
    ['"5414488600041780190"', 'must have 18 digits, not 19'],
    ['54144886000417801', 'must have 18 digits, not 17'],
    ['5414488600041780190', 'must have 18 digits, not 19'],
    ['1', 'must have 18 digits, not 1'],
    ['""', 'must be 18 digits from 0 to 9 and nothing else'],
    ['" 541448860004178019"', 'must be 18 digits from 0 to 9 and nothing else'],
    ['"5414 4886 0004 1780 19"', 'must be 18 digits from 0 to 9 and nothing else'],
    ['"541448860004178019\\n"', 'must be 18 digits from 0 to 9 and nothing else'],
    ['"54144886000417801A"', 'must be 18 digits from 0 to 9 and nothing else'],
    ['"５４１４４８８６０００４１７８０１９"', 'must be 18 digits from 0 to 9 and nothing else'],
    ['"5.41448860004178019e17"', 'must be 18 digits from 0 to 9 and nothing else'],
    ['5.41448860004178019e17', 'must be 18 digits without sign, fraction or exponent'],
    ['541448860004178019.0', 'must be 18 digits without sign, fraction or exponent'],
    ['541448860004178019e0', 'must be 18 digits without sign, fraction or exponent'],
    ['-541448860004178019', 'must be 18 digits without sign, fraction or exponent'],
    ['0.5', 'must be 18 digits without sign, fraction or exponent'],
    [
      '"041448860004178019"',
      'must not begin with 0: the Solar Curtailment Service takes an EAN as a JSON number, which cannot begin with 0',
    ],
    ['null', 'must be an EAN: 18 digits, as a string or as a number'],
    ['true', 'must be an EAN: 18 digits, as a string or as a number'],
    ['["541448860004178019"]', 'must be an EAN: 18 digits, as a string or as a number'],
    ['{"text":"541448860004178019"}', 'must be an EAN: 18 digits, as a string or as a number'],
  ])('is not read from %s', (json, fault) => {
    expect(eanFault(fromJson(json))).toBe(fault);
  });

  it('ends with the check digit of GS1', () => {
    // An example of 18 digits from the GS1 specification.
    expect(hasValidCheckDigit('376104250021234569')).toBe(true);
    for (const digit of '012345678') expect(hasValidCheckDigit(`37610425002123456${digit}`)).toBe(false);
  });
});

describe('an EAN that a program may have rounded', () => {
  const ROUNDED =
    'looks rounded, and its check digit is wrong: send all digits as a string, or `eanConfirmed: true` if it is right';
  const errorsOf = (json: string, rule: CheckDigitRule = 'warn', known?: string[]) =>
    roundedEans(fromJson(json), rule, known);
  const bodyOf = (...eans: string[]) =>
    `{"gridLocations":[${eans.map((ean) => `{"ean":${ean}}`).join(',')}]}`;
  const EAN = '541448860004178019';

  it.each([
    ['JSON.stringify', JSON.stringify(Number('871685900000000011'))],
    ['JSON.stringify, if the double has other digits', JSON.stringify(Number(EAN))],
    ['all digits of a double', BigInt(Number(EAN)).toString()],
    ['15 digits that became a double', BigInt(Number('541448860004178000')).toString()],
    ['17 digits of a double', '541448860004178050'],
    ['few digits', '100000000000000000'],
  ])('is refused as written by %s, as a number and as text', (_, text) => {
    const errors = [{ field: 'gridLocations[0].ean', message: ROUNDED }];
    expect(errorsOf(bodyOf(text))).toEqual(errors);
    expect(errorsOf(bodyOf(`"${text}"`))).toEqual(errors);
    expect(errorsOf(bodyOf(text), 'warn', [text])).toEqual([]);
    expect(errorsOf(bodyOf(`"${text}"`).replace('{', '{"eanConfirmed":true,'))).toEqual([]);
  });

  it('is not refused alone if check digits prove nothing, as a number or as text', () => {
    const text = BigInt(Number(EAN)).toString();
    for (const ean of [text, `"${text}"`]) expect(errorsOf(bodyOf(ean), 'off')).toEqual([]);
  });

  it.each([
    ['whose check digit fits', '541448820044186560'],
    ['that no double writes', EAN],
    ['that no double writes, though it ends with 0', '376104250021234510'],
    ['that is not an EAN', '87168590000000100'],
    ['that is not written as an integer', '871685900000000000.0'],
  ])('is not one %s', (_, text) => {
    expect(errorsOf(bodyOf(text))).toEqual([]);
  });

  it('is reported by its position, and not quoted', () => {
    const errors = errorsOf(bodyOf('"x"', '871685900000000000', 'null', '871685900000000000'));
    expect(errors.map(({ field }) => field)).toEqual(['gridLocations[1].ean', 'gridLocations[3].ean']);
    expect(JSON.stringify(errors)).not.toContain('8716859');
  });

  it.each(['null', '1', '[]', '{}', '{"gridLocations":{}}', '{"gridLocations":[null,1,[]]}'])(
    'is not in %s',
    (json) => expect(errorsOf(json)).toEqual([]),
  );
});

const RIGHT = '376104250021234569';
const WRONG = '376104250021234560';

describe('grid locations', () => {
  it('are read in the order they were sent', () => {
    expect(readGridLocations([{ ean: WRONG }, { ean: RIGHT }], 'off')).toEqual({
      eans: [WRONG, RIGHT],
      errors: [],
      warnings: [],
    });
  });

  it('may not repeat an EAN, and the error names both places', () => {
    const { errors } = readGridLocations([{ ean: RIGHT }, { ean: WRONG }, { ean: RIGHT }], 'off');
    expect(errors).toEqual([
      { field: 'gridLocations[2].ean', message: 'must not repeat gridLocations[0].ean' },
    ]);
  });

  it('with a wrong check digit are warned of under warn', () => {
    const { errors, warnings } = readGridLocations([{ ean: RIGHT }, { ean: WRONG }], 'warn');
    expect(errors).toEqual([]);
    expect(warnings).toEqual([
      {
        field: 'gridLocations[1].ean',
        code: 'ean_check_digit',
        message: 'does not end with its GS1 check digit; a digit is probably mistyped',
      },
    ]);
  });

  it('with a wrong check digit are refused under enforce', () => {
    const { errors, warnings } = readGridLocations([{ ean: RIGHT }, { ean: WRONG }], 'enforce');
    expect(errors).toEqual([
      {
        field: 'gridLocations[1].ean',
        message: 'does not end with its GS1 check digit; a digit is probably mistyped',
      },
    ]);
    expect(warnings).toEqual([]);
  });
});

it('EANs that other references have are warned of', () => {
  const others = new Map([
    ['1', 0],
    ['2', 1],
    ['3', 2],
  ]);
  expect(warnOfOthers(['1', '2', '3', '4'], others)).toEqual([
    { field: 'gridLocations[1].ean', message: '1 other tenantReference has this EAN', code: 'ean_elsewhere' },
    {
      field: 'gridLocations[2].ean',
      message: '2 other tenantReferences have this EAN',
      code: 'ean_elsewhere',
    },
  ]);
});

it.each([
  ['541448820041865000', 'fifteen_digits'],
  ['5414488200418650', 'fifteen_digits'],
  ['541448820041865', undefined],
  ['541448820041865100', 'shortest_digits'],
  // A number of 17 digits has lost two, so a zero at its end shows nothing.
  ['54144882004186510', undefined],
  ['541448860004178050', 'shortest_digits'],
  // Its double has fewer digits (…8651) and more (…86509), and a program may write either.
  ['541448820041865090', 'shortest_digits'],
  ['87168590000000020', 'shortest_digits'],
  // No double has these 16 digits, but a program that writes no more than 16 does.
  ['871685900000010300', 'shortest_digits'],
  ['72057594037927936', 'all_digits'],
  ['541448860004178048', 'all_digits'],
  ['541448820041865017', undefined],
])('the digits %s have the form %s', (digits, form) => expect(roundedForm(digits)).toBe(form));

it.each([
  ['EAN 5414 4882 0051 0123 33, at the back', ['541448820051012333']],
  ['541\u00a0448820\u00a0051012333;541448-820051.012708', ['541448820051012333', '541448820051012708']],
  ['6123456789012345678901', []],
  ['2026-11-30', []],
])('a text such as %j has the EANs %j', (text, eans) => expect(eansIn(text)).toEqual(eans));
