import type { ReactNode } from 'react';
import type { ListResult } from '../api/lists.js';
import { countOf } from '../format/words.js';
import { Empty, Loaded } from './loaded.js';
import { Table, type Column } from './table.js';

interface Props<Item> {
  readonly label: string;
  readonly list: ListResult<Item>;
  readonly columns: readonly Column<Item>[];
  readonly keyOf: (item: Item) => string;
  readonly unit: string;
  /** Default: `unit` with an s. */
  readonly units?: string;
  /** Shown instead of a table without rows. */
  readonly empty: ReactNode;
}

/** A list of the API with its count, and a button for the next page. */
export function List<Item>({ label, list, columns, keyOf, unit, units, empty }: Props<Item>) {
  return (
    <Loaded query={list}>
      {({ pages }) => {
        const rows = pages.flatMap(({ items }) => items);
        if (rows.length === 0) return <Empty>{empty}</Empty>;
        return (
          <>
            <Table label={label} columns={columns} rows={rows} keyOf={keyOf} />
            <p className="more">
              {list.hasNextPage
                ? `The first ${countOf(rows.length, unit, units)}.`
                : `${countOf(rows.length, unit, units)}.`}{' '}
              {list.hasNextPage && (
                <button
                  type="button"
                  className="small"
                  disabled={list.isFetchingNextPage}
                  onClick={() => void list.fetchNextPage()}
                >
                  Show more
                </button>
              )}
            </p>
          </>
        );
      }}
    </Loaded>
  );
}
