import { describe, expect, it } from '@jest/globals';
import { mappingOf } from '../campaigns.dto.js';
import {
  columnNameOf,
  MAX_COLUMNS,
  readHeader,
  readMapping,
  recognisedColumns,
  type Column,
} from './headers.rules.js';

describe('the header', () => {
  it('is matched without regard to case, blanks, hyphens and underscores', () => {
    expect(
      readHeader(['TENANT REFERENCE', 'e-a-n', 'Expected_Inverters', ' Metadata. Contract No ']),
    ).toEqual({
      columns: [
        { kind: 'field', field: 'tenantReference', name: 'TENANT REFERENCE' },
        { kind: 'field', field: 'ean', name: 'e-a-n' },
        { kind: 'field', field: 'expectedInverters', name: 'Expected_Inverters' },
        { kind: 'metadata', key: 'Contract No', name: 'Metadata. Contract No' },
      ],
    });
  });

  it('may have empty cells at its end, and the columns of a result', () => {
    const names = ['tenantReference', 'ean', 'status', 'invitationUrl', '', ' '];
    expect(readHeader(names)).toMatchObject({ columns: [{}, {}, { kind: 'skipped' }, { kind: 'skipped' }] });
  });

  it('may have metadata whose names differ in case', () => {
    const names = ['tenantReference', 'ean', 'metadata.a', 'metadata.A'];
    expect(readHeader(names)).toMatchObject({ columns: [{}, {}, { key: 'a' }, { key: 'A' }] });
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
    [['ean'], 'the column "tenantReference" is missing'],
    [['brand'], 'the column "tenantReference" and the column "ean" are missing'],
    [[], 'the column "tenantReference" and the column "ean" are missing'],
    [
      ['a'],
      'column 1 ("a") is not known, and the column "tenantReference" and the column "ean" are missing: name the columns so, and others "metadata.NAME", or delete them',
    ],
    [
      ['ean', 'a'],
      'column 2 ("a") is not known, and the column "tenantReference" is missing: name the columns so',
    ],
    [
      ['tenantReference', 'ean', 'iban'],
      'column 3 ("iban") is not known: delete it, or name it "metadata.iban" to keep its values',
    ],
    [['tenantReference', 'ean', 'status', 'brand', 'Status'], 'has the same name as column 3 ("status")'],
    [['tenantReference', 'ean', 'metadata.constructor'], 'has a name that is not allowed'],
    [['tenantReference', 'ean', 'meta-data.a'], 'column 3 ("meta-data.a") is not known'],
    [['tenantReference', 'ean', 'metadata. '], 'column 3 ("metadata.") has no name after the dot'],
    [['tenantReference', 'ean', 'xmetadata.a'], 'column 3 ("xmetadata.a") is not known'],
    [
      ['tenantReference', 'iban', 'ean', 'phone'],
      'column 2 ("iban") and column 4 ("phone") are not known: delete them, or name them "metadata.iban" and "metadata.phone" to keep their values',
    ],
    [['tenantReference', '', 'ean'], 'column 2 has no name'],
    [['tenantReference', ' ', 'ean'], 'column 2 has no name'],
    [
      ['tenantReference', 'ean', 'meta data.a metadata.b'],
      'column 3 ("meta data.a metadata.b") is not known',
    ],
    [['tenantReference', ' ean', 'EAN '], 'column 3 ("EAN") has the same name as column 2 ("ean")'],
    [['tenantReference', 'ean', 'metadata.'], 'column 3 ("metadata.") has no name after the dot'],
    [['tenantReference', 'ean', 'metadata.__proto__'], 'has a name that is not allowed'],
    [['tenantReference', 'ean', 'metadata.a', 'metadata.a'], 'has the same name as column 3'],
    [Array.from({ length: MAX_COLUMNS + 1 }, (_, at) => `metadata.${at}`), 'it has 201 columns'],
    [['x'.repeat(40)], `column 1 ("${'x'.repeat(40)}") `],
    [['x'.repeat(41)], `column 1 ("${'x'.repeat(40)}…") `],
    [[` ${'x'.repeat(41)} `], `column 1 ("${'x'.repeat(40)}…") `],
    [[` ${'x'.repeat(40)} `], `column 1 ("${'x'.repeat(40)}") `],
  ])('%# is refused, with the column', (names, fault) => {
    expect(readHeader(names)).toMatchObject({ fault: expect.stringContaining(fault) as unknown });
  });

  it('names a field as the file does, or as we do if the file has none', () => {
    const { columns } = readHeader(['Ean', 'TENANT reference']) as { columns: readonly Column[] };
    expect(columnNameOf(columns, 'tenantReference')).toBe('TENANT reference');
    expect(columnNameOf(columns, 'brand')).toBe('brand');
  });

  const mapping = 'Klant-Nummer: tenantReference ,a:b:ean, Straat : ,Notitie:metadata.note';
  it('may have names of its own, which a mapping explains without regard to case', () => {
    const names = ['klantnummer', 'A:B', 'STRAAT', 'notitie', 'brand'];
    expect(readHeader(names, mappingOf(mapping))).toEqual({
      columns: [
        { kind: 'field', field: 'tenantReference', name: 'klantnummer' },
        { kind: 'field', field: 'ean', name: 'A:B' },
        { kind: 'skipped', name: 'STRAAT' },
        { kind: 'metadata', key: 'note', name: 'notitie' },
        { kind: 'field', field: 'brand', name: 'brand' },
      ],
    });
  });

  it.each([
    [['klantnummer', 'A:B', 'straat'], mapping, 'it has no column "Notitie", which `columns` names'],
    [['Klant', 'ean'], 'Klant:ean', 'column 2 ("ean") is ean, and so is column 1 ("Klant")'],
    [['Klant', 'EAN', 'klant'], 'Klant:', 'column 3 ("klant") has the same name as column 1 ("Klant")'],
    [
      ['Klantnummer', 'EAN-code', 'Klant', 'Straat'],
      'Klant:',
      'upload it with columns=Klantnummer:tenantReference,EAN-code:ean',
    ],
    [['Klant', 'tenantReference', 'ean'], '', 'to keep its values'],
  ])('%j with the mapping %j is refused', (names, text, fault) => {
    expect(readHeader(names, text === '' ? undefined : mappingOf(text))).toMatchObject({
      fault: expect.stringMatching(new RegExp(`${fault.replace(/[()]/g, '\\$&')}$`)) as unknown,
    });
  });

  it.each([
    ['Klant', 'must be NAME:FIELD pairs'],
    [' :ean', 'must be NAME:FIELD pairs'],
    ['', 'must be NAME:FIELD pairs'],
    ['a:iban', '"iban" is no field: use tenantReference, ean'],
    ['a:status', '"status" is no field'],
    ['a:ean,A:brand', 'names the column "A" twice'],
  ])('has no mapping %j: it %s', (text, fault) => {
    expect(readMapping(text)).toEqual({ fault: expect.stringContaining(fault) as unknown });
  });

  it('has as many columns recognised as have a known name', () => {
    expect(recognisedColumns(['EAN', 'x', ' metadata.a', 'metadata.', 'problems', ''])).toBe(3);
  });
});
