import { describe, expect, it } from '@jest/globals';
import { binaryKind, detectLayout, isJsonArray, isNdjson } from './file-format.rules.js';

describe('the layout', () => {
  it.each([
    ['tenantReference;ean', ';'],
    ['tenantReference\tean', '\t'],
    ['ean|tenantReference|metadata.a, b, c', '|'],
    ['a,b,c,d;tenantReference;ean', ';'],
    ['"tenantReference";"ean";"metadata.a,b,c"', ';'],
    ['\r\ntenantReference;ean', ';'],
    ['x;y;z,', ';'],
    ['ean', ','],
    ['', ','],
  ])('of %p has the delimiter %p', (text, delimiter) => expect(detectLayout(text).delimiter).toBe(delimiter));

  it('may be named by a first line', () => {
    expect(detectLayout('sep=|\r\na;b;c')).toEqual({ delimiter: '|', quote: '"', skipped: 7 });
  });

  it('may have single quotes, but only around the first name', () => {
    expect(detectLayout("'tenantReference';'ean'")).toEqual({ delimiter: ';', quote: "'", skipped: 0 });
    expect(detectLayout("sep=;\n'tenantReference';'ean'").quote).toBe("'");
    expect(detectLayout("tenantReference;'ean'").quote).toBe('"');
  });

  it.each([
    ['SEP=;\na,b', ';', 6],
    ['sep=,', ',', 0],
    ['x\nsep=;\n', ',', 0],
    ['sep=;;\n', ';', 0],
  ])('of %j has the delimiter %p and skips %i characters', (text, delimiter, skipped) =>
    expect(detectLayout(text)).toMatchObject({ delimiter, skipped }),
  );

  it('is that of the first line, whatever the lines after it have', () => {
    expect(detectLayout('tenantReference,ean\n;;;;;;;;').delimiter).toBe(',');
    expect(detectLayout('tenantReference,ean\r;;;;;;;;').delimiter).toBe(',');
  });
});

describe('the type of a file', () => {
  it.each([
    ['PK\x03\x04', 'an Excel workbook (.xlsx) or a ZIP file'],
    ['\xd0\xcf\x11\xe0\xa1', 'an Excel workbook (.xls)'],
    ['\x1f\x8b\x08', 'compressed (gzip)'],
    ['%PDF-1.7', 'a PDF'],
    ['tenantReference;PK', undefined],
    ['', undefined],
  ])('of one that begins with %j is %s', (beginning, kind) => expect(binaryKind(beginning)).toBe(kind));

  it.each([
    ['{"a":1}', true, false],
    [' \n {', true, false],
    ['[{"a":1}]', false, true],
    ['\t[', false, true],
    ['ean,{', false, false],
    ['ean,[', false, false],
    ['', false, false],
  ])('of %j is NDJSON: %s, a JSON array: %s', (text, ndjson, array) => {
    expect([isNdjson(text), isJsonArray(text)]).toEqual([ndjson, array]);
  });
});
