import type { ReactNode } from 'react';
import { Empty } from './loaded.js';

export interface Column<Row> {
  readonly title: string;
  readonly of: (row: Row) => ReactNode;
  readonly isNumber?: boolean;
}

export interface TableProps<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Shown instead of a table without rows. */
  readonly empty?: ReactNode;
}

/**
 * A table, which becomes a list of cards on a narrow screen. The roles are explicit, because the styles of the cards remove the implicit
 * ones.
 */
export function Table<Row>({ label, columns, rows, keyOf, empty }: TableProps<Row>) {
  if (rows.length === 0 && empty !== undefined) return <Empty>{empty}</Empty>;
  return (
    <table role="table" aria-label={label}>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(({ title, isNumber }) => (
            <th key={title} role="columnheader" scope="col" className={isNumber ? 'number' : undefined}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr key={keyOf(row)} role="row">
            {columns.map(({ title, of, isNumber }) => (
              <td key={title} role="cell" data-title={title} className={isNumber ? 'number' : undefined}>
                <div>{of(row)}</div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
