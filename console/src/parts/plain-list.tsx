import { Button, Group } from '@mantine/core';
import type { RowData } from '@tanstack/react-table';
import { texts } from '../texts.js';
import { saveRows } from './save-rows.js';
import { Table, type TableProps } from './table.js';

/** A table whose rows are all there, with a button that saves them as a file. */
export const PlainList = <Row extends RowData>(table: TableProps<Row>) => (
  <div className="list">
    <Table {...table} />
    {table.rows.length > 0 && (
      <Group className="more">
        <Button variant="subtle" onClick={() => saveRows(table.label, table.columns, table.rows)}>
          {texts.buttons.saveAsCsv}
        </Button>
      </Group>
    )}
  </div>
);
