import type { ReactNode } from 'react';

export interface Column<Row> {
  readonly title: string;
  readonly of: (row: Row) => ReactNode;
  readonly isNumber?: boolean;
}

interface Props<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
}

/** A table, which becomes a list of cards on a narrow screen. The roles are explicit, because the cards would lose them. */
export function Table<Row>({ label, columns, rows, keyOf }: Props<Row>) {
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
