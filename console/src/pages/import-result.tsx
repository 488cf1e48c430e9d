import { TextInput } from '@mantine/core';
import type { Schemas } from '#client/client.js';
import { client } from '../api/client.js';
import { formatNumber } from '../format/words.js';
import { Facts, Panel } from '../parts/panel.js';
import { Table } from '../parts/table.js';
import type { Use } from '../rules/columns.js';
import type { TableFile } from '../rules/table-file.js';
import { texts } from '../texts.js';

type Campaign = Schemas['CampaignView'];
type Row = Schemas['CampaignRowView'];
type Code = Row['problems'][number]['code'];

/** The most rows that can be corrected in the page. */
const MOST_CORRECTED = 100;

/** A dry run, with up to 100 of its rows that are invalid, and of those that would be taken although something is odd. */
export interface Checked {
  readonly campaign: Campaign;
  readonly invalid: readonly Row[];
  readonly doubtful: readonly Row[];
}

export async function readChecked(campaign: Campaign): Promise<Checked> {
  const rowsOf = async (query: {
    status: 'invalid' | 'accepted' | 'known';
    problem?: Code;
  }): Promise<Row[]> => {
    const params = { path: { id: campaign.id }, query: { ...query, limit: MOST_CORRECTED } };
    return (await client.GET('/api/v1/campaigns/{id}/rows', { params })).data.items;
  };
  const codes = Object.keys(campaign.problems) as Code[];
  const found = await Promise.all(
    // Of a known customer, nothing else matters any more: an owner who has declined may be invited again.
    codes.map((problem) => rowsOf({ status: problem === 'owner_declined' ? 'known' : 'accepted', problem })),
  );
  const doubtful = [...new Map(found.flat().map((row) => [row.line, row])).values()];
  return {
    campaign,
    invalid: campaign.summary.invalid === 0 ? [] : await rowsOf({ status: 'invalid' }),
    doubtful: doubtful.sort((one, other) => one.line - other.line).slice(0, MOST_CORRECTED),
  };
}

interface Correction {
  readonly rows: TableFile['rows'];
  readonly file: TableFile;
  readonly uses: readonly Use[];
  readonly onCorrect: (row: number, column: number, value: string) => void;
}

/** Shows what the check has found, with the cells at fault to be corrected. */
export function Result({ of, ...correction }: Correction & { readonly of: Checked }) {
  const { campaign, invalid, doubtful } = of;
  const { summary } = campaign;
  return (
    <Panel title={texts.import.resultStep} isWide isResult>
      <Facts
        facts={[
          [texts.import.found.new, formatNumber(summary.new)],
          [texts.import.found.known, formatNumber(summary.known)],
          [texts.import.found.conflicts, formatNumber(summary.conflicts)],
          [texts.import.found.invalid, formatNumber(summary.invalid)],
          [texts.import.found.duplicates, formatNumber(summary.duplicates)],
        ]}
      />
      {invalid.length > 0 && (
        <>
          <p>
            {summary.invalid > invalid.length
              ? texts.import.correctFirst(invalid.length)
              : texts.import.correct}
          </p>
          <Rows label={texts.import.rowsWithFaults} of={invalid} {...correction} />
        </>
      )}
      {doubtful.length > 0 && (
        <>
          <p>
            {doubtful.length === MOST_CORRECTED
              ? texts.import.compareFirst(MOST_CORRECTED)
              : texts.import.compare}
          </p>
          <Rows label={texts.import.doubtfulRows} of={doubtful} {...correction} />
        </>
      )}
    </Panel>
  );
}

function Rows({
  label,
  of,
  rows,
  file: { headers, firstRow },
  uses,
  onCorrect,
}: Correction & { readonly label: string; readonly of: readonly Row[] }) {
  const numberOf = ({ line }: Row) => line - 2 + firstRow;
  const isOfColumn = ({ column }: Row['problems'][number]) => uses.includes(column as Use);
  return (
    <Table
      label={label}
      rows={of}
      keyOf={({ line }) => String(line)}
      columns={[
        { title: texts.import.row, of: numberOf, isNumber: true },
        ...uses.flatMap((use, column) =>
          use === ''
            ? []
            : [
                {
                  title: headers[column] || texts.import.column(column + 1),
                  of: (row: Row) => (
                    <TextInput
                      size="xs"
                      aria-label={texts.import.cellOf(headers[column]!, numberOf(row))}
                      value={rows[row.line - 2]?.[column] ?? ''}
                      error={row.problems
                        .filter((each) => each.column === use)
                        .map(({ message }) => message)
                        .join('; ')}
                      onChange={(event) => onCorrect(row.line - 2, column, event.currentTarget.value)}
                    />
                  ),
                },
              ],
        ),
        ...(of.every(({ problems }) => problems.every(isOfColumn))
          ? []
          : [
              {
                title: texts.import.otherwise,
                of: ({ problems }: Row) =>
                  problems
                    .filter((each) => !isOfColumn(each))
                    .map(({ message }) => message)
                    .join('; '),
              },
            ]),
      ]}
    />
  );
}
