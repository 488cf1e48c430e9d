import type { ListResult } from '../api/lists.js';
import { countOf } from '../format/words.js';
import { Loaded } from './loaded.js';
import { Table, type TableProps } from './table.js';

interface Props<Item> extends Omit<TableProps<Item>, 'rows'> {
  readonly list: ListResult<Item>;
  readonly unit: string;
  /** Default: `unit` with an s. */
  readonly units?: string;
}

/** A list of the API with its count, and a button for the next page. */
export function List<Item>({ list, unit, units, ...table }: Props<Item>) {
  return (
    <Loaded query={list}>
      {({ pages }) => {
        const rows = pages.flatMap(({ items }) => items);
        return (
          <>
            <Table {...table} rows={rows} />
            <p className="more">
              {list.hasNextPage && 'The first '}
              {countOf(rows.length, unit, units)}.{' '}
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
