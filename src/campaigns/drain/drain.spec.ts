import { describe, expect, it } from '@jest/globals';
import { markRows, requestsOf } from './drain.rules.js';

const row = (line: number, tenantReference: string, ean: string) => ({
  line,
  tenantReference,
  ean,
  metadata: { line },
});
const rows = [row(2, 'a', '1'), row(3, 'b', '2'), row(4, 'a', '3'), row(5, 'a', '1')];

describe('the registrations of rows', () => {
  it('are one per reference, with all its EANs and the metadata of its first row', () => {
    expect(requestsOf(rows)).toEqual([
      { tenantReference: 'a', eans: ['1', '3'], metadata: { line: 2 } },
      { tenantReference: 'b', eans: ['2'], metadata: { line: 3 } },
    ]);
  });

  it('have an EAN once, however many rows it has', () => {
    expect(requestsOf([row(2, 'a', '1'), row(3, 'a', '1')])).toMatchObject([{ eans: ['1'] }]);
  });

  it('are sent if the EANs are the same in any order, and make the rows invalid otherwise', () => {
    const live = [
      { id: 'of-a', tenantReference: 'a', eans: ['3', '1'] },
      { id: 'of-b', tenantReference: 'b', eans: ['2', '4'] },
    ];
    expect(markRows(rows, live)).toEqual([
      { line: 2, status: 'sent', registrationId: 'of-a' },
      { line: 3, status: 'invalid', registrationId: 'of-b' },
      { line: 4, status: 'sent', registrationId: 'of-a' },
      { line: 5, status: 'sent', registrationId: 'of-a' },
    ]);
  });

  it.each([[['3', '9']], [['1']], [['1', '3', '9']]])(
    'make a row with EANs 1 and 3 invalid if they have %j',
    (eans) => {
      const live = [{ id: 'of-a', tenantReference: 'a', eans }];
      expect(markRows([row(2, 'a', '1'), row(4, 'a', '3')], live)).toMatchObject([
        { status: 'invalid' },
        { status: 'invalid' },
      ]);
    },
  );

  it('leave a row as it is whose reference has none', () => {
    expect(markRows(rows, [])).toEqual([]);
  });
});
