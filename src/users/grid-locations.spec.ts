import { describe, expect, it } from '@jest/globals';
import { readGridLocations } from './grid-locations.rules.js';

const RIGHT = '376104250021234569';
const WRONG = '376104250021234560';

describe('grid locations', () => {
  it('are read in the order they were sent', () => {
    expect(readGridLocations([{ ean: WRONG }, { ean: RIGHT }], 'off')).toEqual({
      eans: [WRONG, RIGHT],
      errors: [],
      suspectIndexes: [],
    });
  });

  it('may not repeat an EAN, and the error names both places', () => {
    const { errors } = readGridLocations([{ ean: RIGHT }, { ean: WRONG }, { ean: RIGHT }], 'off');
    expect(errors).toEqual([
      { field: 'gridLocations[2].ean', message: 'must not repeat gridLocations[0].ean' },
    ]);
  });

  it('with a wrong check digit are counted under warn', () => {
    const { errors, suspectIndexes } = readGridLocations([{ ean: RIGHT }, { ean: WRONG }], 'warn');
    expect({ errors, suspectIndexes }).toEqual({ errors: [], suspectIndexes: [1] });
  });

  it('with a wrong check digit are refused under enforce', () => {
    const { errors, suspectIndexes } = readGridLocations([{ ean: RIGHT }, { ean: WRONG }], 'enforce');
    expect(errors).toEqual([
      {
        field: 'gridLocations[1].ean',
        message: 'must end with its GS1 check digit; one of the digits is mistyped',
      },
    ]);
    expect(suspectIndexes).toEqual([]);
  });
});
