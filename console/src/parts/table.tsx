import { Checkbox, Table as Frame } from '@mantine/core';
import {
  columnVisibilityFeature,
  rowSelectionFeature,
  tableFeatures,
  useTable,
  type ColumnDef,
  type RowData,
} from '@tanstack/react-table';
import type { MouseEvent, ReactNode } from 'react';
import { navigate } from './link.js';
import { Empty } from './loaded.js';
import { pathOf } from '../rules/route.js';
import type { Target } from '../rules/stalled.js';
import { texts } from '../texts.js';

export interface Column<Row> {
  readonly title: string;
  readonly of: (row: Row) => ReactNode;
  /** The value in a file. Default: what `of` returns, if it is a text or a number. */
  readonly text?: (row: Row) => string | number | null;
  readonly isNumber?: boolean;
  /** Whether it has sentences, which get the room that the other columns leave. */
  readonly isText?: boolean;
  /** Whether it is shown only on request. */
  readonly isHidden?: boolean;
}

/** The rows that a person has selected, by their keys. */
export interface Selection {
  readonly keys: ReadonlySet<string>;
  readonly onChange: (keys: ReadonlySet<string>) => void;
}

export interface TableProps<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Shown instead of a table without rows. */
  readonly empty?: ReactNode;
  /** The page about a row, which a click on the row opens; null if there is none. */
  readonly pageOf?: (row: Row) => Target | null;
  readonly selection?: Selection;
  /** The titles of columns that are not shown. */
  readonly hidden?: ReadonlySet<string>;
}

const features = tableFeatures({ columnVisibilityFeature, rowSelectionFeature });

/**
 * A table, which becomes a list of cards on a narrow screen. The roles are explicit, because the styles of the cards remove the implicit
 * ones.
 */
export function Table<Row extends RowData>({
  label,
  columns,
  rows,
  keyOf,
  empty,
  pageOf,
  selection,
  hidden,
}: TableProps<Row>) {
  const table = useTable({
    features,
    data: rows,
    columns: columns.map(({ title, of }): ColumnDef<typeof features, Row> => ({
      id: title,
      header: title,
      cell: ({ row }) => of(row.original),
    })),
    getRowId: keyOf,
    enableRowSelection: selection !== undefined,
    state: {
      columnVisibility: Object.fromEntries([...(hidden ?? [])].map((title) => [title, false])),
      rowSelection: Object.fromEntries([...(selection?.keys ?? [])].map((key) => [key, true])),
    },
    onRowSelectionChange: (change) => {
      const before = Object.fromEntries([...(selection?.keys ?? [])].map((key) => [key, true as const]));
      const after = typeof change === 'function' ? change(before) : change;
      selection?.onChange(new Set(Object.keys(after).filter((key) => after[key])));
    },
  });
  if (rows.length === 0 && empty !== undefined) return <Empty>{empty}</Empty>;
  // Rendered as components of the table, the cells would lose their state whenever the columns are stated anew.
  const byTitle = new Map(columns.map((column) => [column.title, column]));
  const classOf = (title: string) => {
    const { isNumber, isText } = byTitle.get(title) ?? {};
    return isNumber ? 'number' : isText ? 'text' : undefined;
  };
  return (
    <div className="scroll">
      <Frame role="table" aria-label={label} className={pageOf && 'leads'}>
        <thead role="rowgroup">
          {table.getHeaderGroups().map((group) => (
            <tr key={group.id} role="row">
              {selection !== undefined && (
                <th role="columnheader" scope="col" className="select" data-title={texts.list.selectAll}>
                  <Checkbox
                    size="xs"
                    aria-label={texts.list.selectAll}
                    checked={table.getIsAllRowsSelected()}
                    indeterminate={table.getIsSomeRowsSelected() && !table.getIsAllRowsSelected()}
                    onChange={table.getToggleAllRowsSelectedHandler()}
                  />
                </th>
              )}
              {group.headers.map((header) => (
                <th key={header.id} role="columnheader" scope="col" className={classOf(header.id)}>
                  {header.id}
                </th>
              ))}
            </tr>
          ))}
        </thead>
        <tbody role="rowgroup">
          {table.getRowModel().rows.map((row) => (
            <tr
              key={row.id}
              role="row"
              onClick={(event) => follow(event, pageOf?.(row.original) ?? null)}
              data-selected={row.getIsSelected() || undefined}
            >
              {selection !== undefined && (
                <td role="cell" className="select" data-title={texts.list.select}>
                  <Checkbox
                    size="xs"
                    aria-label={texts.list.select}
                    checked={row.getIsSelected()}
                    onChange={row.getToggleSelectedHandler()}
                  />
                </td>
              )}
              {row.getVisibleCells().map((cell) => (
                <td key={cell.id} role="cell" data-title={cell.column.id} className={classOf(cell.column.id)}>
                  <div>{byTitle.get(cell.column.id)?.of(row.original)}</div>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </Frame>
    </div>
  );
}

/** Opens the page of a row, unless the click was on a control, selected text, or was in a dialog that the row has opened. */
function follow({ target, currentTarget }: MouseEvent, page: Target | null): void {
  if (page === null || !(target instanceof Element) || !currentTarget.contains(target)) return;
  if (target.closest('a, button, input, select, textarea, summary, label') !== null) return;
  if (window.getSelection()?.toString() !== '') return;
  navigate(pathOf(page.to, page.id, page.filters));
}
