import { proposedField, type Field } from '../../../src/spreadsheet/column-names.rules.js';
import { texts } from '../texts.js';

/** The columns of a file of customers, with the words by which people know them. */
export const COLUMNS: Readonly<Record<Field, string>> = texts.import.fields;

/** What a column of the file becomes: a field, metadata of this name, or nothing. */
export type Use = Field | `metadata.${string}` | '';

/** Returns what each column of a file probably is. A field is proposed once. */
export function proposalOf(headers: readonly string[]): Use[] {
  const used = new Set<Field>();
  return headers.map((header): Use => {
    const metadata = /^metadata\.(.+)$/i.exec(header.trim());
    if (metadata !== null) return `metadata.${metadata[1]!}`;
    const field = proposedField(header);
    if (field === undefined || used.has(field)) return '';
    used.add(field);
    return field;
  });
}

/** Returns what is wrong with a mapping, in words; null if nothing is. */
export function mappingFault(uses: readonly Use[]): string | null {
  const twice = uses.find((use, index) => use !== '' && uses.indexOf(use) !== index);
  if (twice !== undefined) return texts.import.usedTwice(nameOf(twice));
  const missing = (['tenantReference', 'ean'] as const).filter((each) => !uses.includes(each));
  return missing.length === 0 ? null : texts.import.missing(missing.map(nameOf));
}

export const nameOf = (use: Use): string =>
  Object.hasOwn(COLUMNS, use) ? COLUMNS[use as Field] : texts.import.ownData(use.replace(/^metadata\./, ''));
