import { describe, expect, it } from '@jest/globals';
import { MAX_COLUMNS, readHeader } from './headers.rules.js';

describe('the header', () => {
  it('is matched without regard to case, blanks, hyphens and underscores', () => {
    expect(readHeader(['TENANT REFERENCE', 'e-a-n', 'Expected_Inverters', ' Metadata.Contract No '])).toEqual(
      {
        columns: [
          { kind: 'field', field: 'tenantReference', name: 'TENANT REFERENCE' },
          { kind: 'field', field: 'ean', name: 'e-a-n' },
          { kind: 'field', field: 'expectedInverters', name: 'Expected_Inverters' },
          { kind: 'metadata', key: 'Contract No', name: 'Metadata.Contract No' },
        ],
      },
    );
  });

  it('may have empty cells at its end, and the columns of a result', () => {
    const names = ['tenantReference', 'ean', 'status', 'invitationUrl', '', ' '];
    expect(readHeader(names)).toMatchObject({ columns: [{}, {}, { kind: 'skipped' }, { kind: 'skipped' }] });
  });

  it('may have 200 columns', () => {
    const names = [
      'tenantReference',
      'ean',
      ...Array.from({ length: MAX_COLUMNS - 2 }, (_, at) => `metadata.${at}`),
    ];
    expect(readHeader(names)).toMatchObject({ columns: { length: MAX_COLUMNS } });
  });

  it.each([
    [['ean'], '"tenantReference" is missing'],
    [['a'], 'column 1 ("a") is not known'],
    [
      ['tenantReference', 'iban', 'ean', 'phone'],
      'column 2 ("iban") and column 4 ("phone") are not known: delete them, or name them "metadata.iban" and "metadata.phone" to keep their values',
    ],
    [['tenantReference', '', 'ean'], 'column 2 has no name'],
    [['tenantReference', 'ean', 'EAN'], 'column 3 ("EAN") has the same name as column 2 ("ean")'],
    [['tenantReference', 'ean', 'metadata.'], 'column 3 ("metadata.") has no name after the dot'],
    [['tenantReference', 'ean', 'metadata.__proto__'], 'has a name that is not allowed'],
    [['tenantReference', 'ean', 'metadata.a', 'metadata.a'], 'has the same name as column 3'],
    [Array.from({ length: MAX_COLUMNS + 1 }, (_, at) => `metadata.${at}`), 'it has 201 columns'],
    [['x'.repeat(1_000)], '…'],
  ])('%# is refused, with the column', (names, fault) => {
    expect(readHeader(names)).toMatchObject({ fault: expect.stringContaining(fault) as unknown });
  });
});
