import { Alert, Button, Checkbox, Group, Textarea, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState, type DragEvent } from 'react';
import type { Schemas } from '#client/client.js';
import { client } from '../api/client.js';
import { invalidate } from '../api/queries.js';
import { countOf, formatNumber } from '../format/words.js';
import { Choice } from '../parts/choice.js';
import { navigate } from '../parts/link.js';
import { Failure } from '../parts/loaded.js';
import { useMay } from '../parts/may.js';
import { tellDone } from '../parts/notify.js';
import { Facts, Panel } from '../parts/panel.js';
import { Table } from '../parts/table.js';
import { COLUMNS, mappingFault, nameOf, proposalOf, type Use } from '../rules/columns.js';
import { pathOf } from '../rules/route.js';
import { csvFor, decode, MOST_BYTES, readTable, type TableFile } from '../rules/table-file.js';

type Campaign = Schemas['CampaignView'];
type Row = Schemas['CampaignRowView'];

/** The most rows that can be corrected in the page. */
const MOST_CORRECTED = 100;
const PREVIEW = 10;

interface Checked {
  readonly campaign: Campaign;
  /** The rows that are invalid, and up to 100 of them. */
  readonly invalid: readonly Row[];
}

/** Leads a person from a file of customers to a campaign: read, map the columns, check, correct, upload. */
export function ImportPage() {
  const [file, setFile] = useState<TableFile | null>(null);
  return (
    <>
      <div className="title">
        <h1>Import customers</h1>
        {file !== null && <Button onClick={() => setFile(null)}>Take another file</Button>}
      </div>
      {file === null ? <Choose onFile={setFile} /> : <Prepare key={file.name} file={file} />}
    </>
  );
}

/** Takes a file by drop or by the dialog of the browser, or a paste from a spreadsheet. */
function Choose({ onFile }: { readonly onFile: (file: TableFile) => void }) {
  const [failure, setFailure] = useState<string | null>(null);
  const [isOver, setOver] = useState(false);
  const accept = (name: string, text: string) => {
    try {
      onFile(readTable(name, text));
    } catch (error) {
      setFailure((error as Error).message);
    }
  };
  const take = async (file: File | undefined) => {
    if (file === undefined) return;
    if (/\.xlsx?$/i.test(file.name))
      return setFailure(
        'This is an Excel workbook. In Excel, choose “Save as” and “CSV UTF-8”, or copy the cells and paste them below.',
      );
    if (file.size > MOST_BYTES)
      return setFailure(
        'This file is larger than 20 MB. Upload it with the command: pv-onboarding import FILE.',
      );
    accept(file.name, decode(new Uint8Array(await file.arrayBuffer())));
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    void take(event.dataTransfer.files[0]);
  };
  return (
    <Panel title="1. The file" isWide>
      <label
        className={isOver ? 'drop over' : 'drop'}
        onDragOver={(event) => (event.preventDefault(), setOver(true))}
        onDragLeave={() => setOver(false)}
        onDrop={drop}
      >
        <strong>Drop a CSV file here, or choose one</strong>
        <input
          type="file"
          accept=".csv,.txt,.tsv,.xlsx,.xls,text/csv"
          onChange={(event) => void take(event.currentTarget.files?.[0])}
        />
      </label>
      <Textarea
        label="Or paste rows from a spreadsheet, with the names of the columns above them"
        rows={4}
        spellCheck={false}
        onPaste={(event) => {
          event.preventDefault();
          accept('Pasted rows', event.clipboardData.getData('text'));
        }}
      />
      {failure !== null && (
        <Alert color="red" className="failure">
          {failure}
        </Alert>
      )}
    </Panel>
  );
}

/** The mapping is remembered by the names of the columns, for the next file of the same kind. */
const keyOf = (headers: readonly string[]) => `columns ${headers.join('\u0000')}`;

function rememberedFor(headers: readonly string[]): Use[] {
  try {
    const uses = JSON.parse(localStorage.getItem(keyOf(headers)) ?? 'null') as Use[] | null;
    if (uses?.length === headers.length) return uses;
  } catch {
    // The browser forbids storage, or what it stored is no mapping: propose one.
  }
  return proposalOf(headers);
}

function remember(headers: readonly string[], uses: readonly Use[]): void {
  try {
    localStorage.setItem(keyOf(headers), JSON.stringify(uses));
  } catch {
    // The browser forbids storage.
  }
}

function Prepare({ file }: { readonly file: TableFile }) {
  const { headers } = file;
  const may = useMay();
  const [rows, setRows] = useState(file.rows);
  const [uses, setUses] = useState(() => rememberedFor(headers));
  const [name, setName] = useState(file.name.replace(/\.\w+$/, ''));
  const [isInviting, setInviting] = useState(false);
  const upload = (dryRun: boolean) => send(csvFor(rows, uses), { dryRun, name, invite: isInviting });
  const check = useMutation({
    mutationFn: async (): Promise<Checked> => {
      const campaign = await upload(true);
      if (campaign.summary.invalid === 0) return { campaign, invalid: [] };
      const query = { status: 'invalid', limit: MOST_CORRECTED } as const;
      return { campaign, invalid: await rowsOf(campaign.id, query) };
    },
    onSuccess: () => {
      remember(headers, uses);
      void invalidate('campaigns');
    },
  });
  const register = useMutation({
    mutationFn: () => upload(false),
    onSuccess: ({ id, rows: count }) => {
      tellDone(`${countOf(count, 'row')} are uploaded, and are registered one after the other.`);
      void invalidate('campaigns');
      navigate(pathOf('campaigns', id));
    },
  });
  const change = (use: Use, index: number) => {
    check.reset();
    setUses(uses.map((each, at) => (at === index ? use : each)));
  };
  const correct = (row: number, column: number, value: string) =>
    setRows(
      rows.map((cells, at) => (at === row ? cells.map((cell, of) => (of === column ? value : cell)) : cells)),
    );
  const fault = mappingFault(uses);
  return (
    <>
      <Panel title={`2. The columns of ${file.name}`} isWide>
        <p>
          {countOf(rows.length, 'row')}. The first {Math.min(PREVIEW, rows.length)}:
        </p>
        <div className="wide-table" tabIndex={0} role="region" aria-label="The first rows">
          <table>
            <thead>
              <tr>
                {headers.map((header, index) => (
                  <th key={index} scope="col">
                    <Choice
                      label={header || `Column ${index + 1}`}
                      value={uses[index] ?? ''}
                      options={[
                        ['', 'not used'],
                        ...Object.entries(COLUMNS),
                        [`metadata.${header || index + 1}`, nameOf(`metadata.${header || index + 1}`)],
                      ]}
                      onChoice={(use) => change(use as Use, index)}
                    />
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.slice(0, PREVIEW).map((row, index) => (
                <tr key={index}>
                  {headers.map((_, column) => (
                    <td key={column} className={uses[column] === '' ? 'soft' : undefined}>
                      {row[column]}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        {fault !== null && (
          <Alert color="yellow" className="notice" role="status">
            {fault}
          </Alert>
        )}
        <Group align="end">
          <TextInput
            size="xs"
            label="Name of the campaign"
            value={name}
            maxLength={100}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          {may('onboarding:write') && (
            <Checkbox
              label="Invite the owners"
              checked={isInviting}
              onChange={(event) => setInviting(event.currentTarget.checked)}
            />
          )}
          <Button
            size="sm"
            variant={check.data === undefined ? 'filled' : 'default'}
            disabled={fault !== null || check.isPending}
            onClick={() => check.mutate()}
          >
            {check.isPending ? 'Checking …' : check.data === undefined ? 'Check the rows' : 'Check again'}
          </Button>
        </Group>
        <Failure of={check.error} />
      </Panel>
      {check.data !== undefined && (
        <>
          <Result of={check.data} rows={rows} uses={uses} headers={headers} onCorrect={correct} />
          <Panel title="4. Register" isWide>
            <p>
              {countOf(check.data.campaign.summary.new, 'row')} will be registered at the provider
              {isInviting && ', and their owners get an invitation'}. {invalidWords(check.data.campaign)}
            </p>
            <div>
              <Button
                size="sm"
                variant="filled"
                disabled={register.isPending || check.isPending || check.data.campaign.summary.new === 0}
                onClick={() => register.mutate()}
              >
                Register {countOf(check.data.campaign.summary.new, 'row')}
              </Button>
            </div>
            <Failure of={register.error} />
          </Panel>
        </>
      )}
    </>
  );
}

const invalidWords = ({ summary: { invalid, conflicts } }: Campaign): string =>
  invalid + conflicts === 0 ? '' : `${countOf(invalid + conflicts, 'row')} with faults will be left out.`;

async function send(
  body: string,
  query: { dryRun: boolean; name: string; invite: boolean },
): Promise<Campaign> {
  const { name, ...others } = query;
  const { data } = await client.POST('/api/v1/campaigns', {
    params: { query: { ...others, ...(name !== '' && { name }) } },
    body,
    bodySerializer: (text: string) => text,
    headers: { 'content-type': 'text/csv; charset=utf-8' },
  });
  return data;
}

const rowsOf = async (id: string, query: { status: 'invalid'; limit: number }): Promise<Row[]> =>
  (await client.GET('/api/v1/campaigns/{id}/rows', { params: { path: { id }, query } })).data.items;

interface ResultProps {
  readonly of: Checked;
  readonly rows: TableFile['rows'];
  readonly headers: readonly string[];
  readonly uses: readonly Use[];
  readonly onCorrect: (row: number, column: number, value: string) => void;
}

/** Shows what the check has found, with the cells at fault to be corrected. */
function Result({ of: { campaign, invalid }, rows, headers, uses, onCorrect }: ResultProps) {
  const { summary } = campaign;
  return (
    <Panel title="3. What the check has found" isWide>
      <Facts
        facts={[
          ['New', formatNumber(summary.new)],
          ['Known already', formatNumber(summary.known)],
          ['Contradict', `${formatNumber(summary.conflicts)} registered with other EANs`],
          ['With faults', formatNumber(summary.invalid)],
          ['Twice in the file', formatNumber(summary.duplicates)],
        ]}
      />
      {invalid.length > 0 && (
        <>
          <p>
            {summary.invalid > invalid.length
              ? `The first ${invalid.length} rows with faults. Correct more than these in the file.`
              : 'Correct a cell and check again, or correct the file.'}
          </p>
          <Table
            label="Rows with faults"
            rows={invalid}
            keyOf={({ line }) => String(line)}
            columns={[
              { title: 'Row', of: ({ line }) => line - 1, isNumber: true },
              ...uses.flatMap((use, column) =>
                use === ''
                  ? []
                  : [
                      {
                        title: headers[column] || `Column ${column + 1}`,
                        of: ({ line, problems }: Row) => (
                          <TextInput
                            size="xs"
                            aria-label={`${headers[column]} of row ${line - 1}`}
                            value={rows[line - 2]?.[column] ?? ''}
                            error={problems
                              .filter((each) => each.column === use)
                              .map(({ message }) => message)
                              .join('; ')}
                            onChange={(event) => onCorrect(line - 2, column, event.currentTarget.value)}
                          />
                        ),
                      },
                    ],
              ),
              {
                title: 'Otherwise',
                of: ({ problems }) =>
                  problems
                    .filter(({ column }) => !uses.includes(column as Use))
                    .map(({ message }) => message)
                    .join('; '),
              },
            ]}
          />
        </>
      )}
    </Panel>
  );
}
