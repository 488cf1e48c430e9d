import { describe, expect, it } from '@jest/globals';
import { parseLossless } from '../platform/json/lossless.js';
import { eanFault, hasValidCheckDigit, readEan, sameEans } from './ean.rules.js';

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
    expect(() => readEan(fromJson(json))).toThrow(TypeError);
  });

  it('ends with the check digit of GS1', () => {
    // The GS1 example of a number of 18 digits.
    expect(hasValidCheckDigit('376104250021234569')).toBe(true);
    for (const digit of '012345678') expect(hasValidCheckDigit(`37610425002123456${digit}`)).toBe(false);
  });

  it('is compared as a set', () => {
    expect(sameEans(['1', '2'], ['2', '1'])).toBe(true);
    expect(sameEans(['1', '2'], ['1'])).toBe(false);
    expect(sameEans(['1', '2'], ['1', '3'])).toBe(false);
  });
});
