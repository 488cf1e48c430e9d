import { strToU8, zipSync, type Zippable } from 'fflate';

export type Cell = string | number | { readonly xml: string };

const escaped = (text: string) => text.replace(/[&<>"]/g, (each) => `&#${each.charCodeAt(0)};`);

/** Returns the name of a column, such as AB. */
function lettersOf(column: number): string {
  const rest = Math.floor(column / 26);
  return (rest === 0 ? '' : lettersOf(rest - 1)) + String.fromCharCode(65 + (column % 26));
}

function cellOf(cell: Cell, column: number, row: number): string {
  const place = `r="${lettersOf(column)}${row}"`;
  if (typeof cell === 'number') return `<c ${place}><v>${cell}</v></c>`;
  if (typeof cell === 'string')
    return `<c ${place} t="inlineStr"><is><t xml:space="preserve">${escaped(cell)}</t></is></c>`;
  return cell.xml.replace('<c', `<c ${place}`);
}

export const sheetXml = (rows: readonly (readonly Cell[])[]): string =>
  `<?xml version="1.0" encoding="UTF-8"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>${rows
    .map(
      (cells, row) =>
        `<row r="${row + 1}">${cells.map((cell, column) => cellOf(cell, column, row + 1)).join('')}</row>`,
    )
    .join('')}</sheetData></worksheet>`;

/**
 * Returns a workbook of these sheets, each the rows or the XML of the sheet. The cell styles 1 to 3 show a date, a number of five digits,
 * and a text before a number.
 */
export function workbookOf(
  sheets: Readonly<Record<string, readonly (readonly Cell[])[] | string>>,
  others: Zippable = {},
): Buffer {
  const names = Object.keys(sheets);
  const ids = names.map((_, index) => index + 1);
  const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
  const files: Zippable = {
    'xl/workbook.xml': strToU8(
      `<workbook xmlns:r="${relations}"><sheets>${names.map((name, index) => `<sheet name="${escaped(name)}" sheetId="${index + 1}" r:id="rId${index + 1}"/>`).join('')}</sheets></workbook>`,
    ),
    'xl/_rels/workbook.xml.rels': strToU8(
      `<Relationships>${ids.map((id) => `<Relationship Id="rId${id}" Type="${relations}/worksheet" Target="worksheets/sheet${id}.xml"/>`).join('')}</Relationships>`,
    ),
    'xl/styles.xml': strToU8(
      '<styleSheet><numFmts><numFmt numFmtId="164" formatCode="00000"/><numFmt numFmtId="165" formatCode="&quot;K;&quot;\\-0;[Red]-0"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/></cellXfs></styleSheet>',
    ),
  };
  for (const [index, rows] of Object.values(sheets).entries())
    files[`xl/worksheets/sheet${index + 1}.xml`] = strToU8(typeof rows === 'string' ? rows : sheetXml(rows));
  return Buffer.from(zipSync({ ...files, ...others }));
}
