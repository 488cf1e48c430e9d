import { Button, Checkbox, Group, Stack, TextInput } from '@mantine/core';
import type { RowData } from '@tanstack/react-table';
import { useState, type ReactNode } from 'react';
import type { ListResult } from '../api/lists.js';
import { texts } from '../texts.js';
import { Choice } from './choice.js';
import { useRemembered, useTyped } from './kept.js';
import { Loaded } from './loaded.js';
import { has, saveRows } from './save-rows.js';
import { Table, type TableProps } from './table.js';
import { Window } from './window.js';

/** A filter of the list in the API. Its value is in the address, so it must not identify a person. */
export type Filter = {
  readonly name: string;
  readonly label: string;
} & (
  | { readonly kind: 'choice'; readonly options: readonly (readonly [value: string, words: string])[] }
  | { readonly kind: 'text'; readonly placeholder?: string }
  | { readonly kind: 'date' }
);

interface Props<Item> extends Omit<TableProps<Item>, 'rows' | 'selection' | 'hidden'> {
  readonly list: ListResult<Item>;
  /** Writes how many items it has. */
  readonly count: (count: number) => string;
  /** The order of the API, such as `the newest first`. */
  readonly order?: string;
  readonly filters?: readonly Filter[];
  /** The values of the filters. */
  readonly values?: Readonly<Record<string, string>>;
  readonly onFilter?: (name: string, value: string) => void;
  /** What a person can do with the selected items; without it, none can be selected. */
  readonly acts?: (selected: readonly Item[], clear: () => void) => ReactNode;
}

const NONE: ReadonlySet<string> = new Set();

/** A list of the API: its filters, its columns, its count, a button for the next page, and what is shown as a file. */
export function List<Item extends RowData>(props: Props<Item>) {
  const { list, count, order, filters = [], values = {}, onFilter, acts, ...table } = props;
  const [hidden, setHidden] = useRemembered(
    table.label,
    table.columns.flatMap(({ title, isHidden }) => (isHidden ? [title] : [])),
  );
  const [keys, setKeys] = useState(NONE);
  const [within, setWithin] = useTyped(table.label);
  const isEmpty = list.data !== undefined && list.data.pages.every(({ items }) => items.length === 0);
  const hasTools = filters.length > 0 || !isEmpty;
  return (
    <Stack gap="xs" className="list">
      {hasTools && (
        <Group gap="xs" align="end" className="tools">
          {filters.map((filter) => (
            <Field
              key={filter.name}
              of={filter}
              value={values[filter.name] ?? ''}
              onChange={(value) => onFilter?.(filter.name, value)}
            />
          ))}
          <TextInput
            size="xs"
            label={texts.list.search}
            value={within}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => setWithin(event.currentTarget.value)}
          />
          <Columns columns={table.columns} hidden={hidden} onChange={setHidden} />
        </Group>
      )}
      <Loaded query={list}>
        {({ pages }) => {
          const all = pages.flatMap(({ items }) => items);
          const rows = within === '' ? all : all.filter((row) => has(table.columns, row, within));
          // A search finds nothing on the pages that have not been read.
          const isPart = within !== '' && list.hasNextPage;
          const selected = rows.filter((row) => keys.has(table.keyOf(row)));
          return (
            <>
              {acts !== undefined && selected.length > 0 && (
                <Group gap="xs" className="selected" role="group" aria-label={texts.list.selection}>
                  <strong>{texts.list.selected(count(selected.length))}</strong>
                  {acts(selected, () => setKeys(NONE))}
                  <Button variant="subtle" onClick={() => setKeys(NONE)}>
                    {texts.buttons.clear}
                  </Button>
                </Group>
              )}
              <Table
                {...table}
                rows={rows}
                {...(within !== '' && { empty: texts.list.noneHasThis })}
                hidden={hidden}
                selection={acts && { keys, onChange: setKeys }}
              />
              {hasTools && (
                <Group gap="xs" className="more">
                  <span>
                    {texts.list.shown(
                      count(isPart ? all.length : rows.length),
                      rows.length > 1 ? order : undefined,
                      list.hasNextPage,
                      isPart ? rows.length : null,
                    )}
                  </span>
                  {list.hasNextPage && (
                    <Button disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
                      {texts.buttons.showMore}
                    </Button>
                  )}
                  {rows.length > 0 && (
                    <Button
                      variant="subtle"
                      onClick={() =>
                        saveRows(
                          table.label,
                          table.columns.filter(({ title }) => !hidden.has(title)),
                          rows,
                        )
                      }
                    >
                      {texts.buttons.saveAsCsv}
                    </Button>
                  )}
                </Group>
              )}
            </>
          );
        }}
      </Loaded>
    </Stack>
  );
}

interface FieldProps {
  readonly of: Filter;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function Field({ of: filter, value, onChange }: FieldProps) {
  if (filter.kind === 'choice')
    return <Choice label={filter.label} value={value} options={filter.options} onChoice={onChange} />;
  if (filter.kind === 'date')
    return (
      <TextInput
        size="xs"
        type="date"
        label={filter.label}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    );
  // A text applies when it is whole: at Enter, or when the field is left.
  return (
    <TextInput
      key={value}
      size="xs"
      label={filter.label}
      placeholder={filter.placeholder}
      defaultValue={value}
      autoComplete="off"
      spellCheck={false}
      onBlur={(event) => event.currentTarget.value !== value && onChange(event.currentTarget.value.trim())}
      onKeyDown={(event) => event.key === 'Enter' && onChange(event.currentTarget.value.trim())}
    />
  );
}

interface ColumnsProps {
  readonly columns: readonly { readonly title: string }[];
  readonly hidden: ReadonlySet<string>;
  readonly onChange: (hidden: ReadonlySet<string>) => void;
}

/** Lets a person choose the columns that are shown. */
function Columns({ columns, hidden, onChange }: ColumnsProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button variant="subtle" onClick={() => setOpen(true)}>
        {texts.list.columns}
      </Button>
      {isOpen && (
        <Window title={texts.list.columns} size="xs" onClose={() => setOpen(false)}>
          <Stack>
            {columns.map(({ title }) => (
              <Checkbox
                key={title}
                label={title}
                checked={!hidden.has(title)}
                disabled={!hidden.has(title) && hidden.size === columns.length - 1}
                onChange={() => onChange(toggled(hidden, title))}
              />
            ))}
          </Stack>
        </Window>
      )}
    </>
  );
}

function toggled(set: ReadonlySet<string>, each: string): ReadonlySet<string> {
  const next = new Set(set);
  if (!next.delete(each)) next.add(each);
  return next;
}
