import { Alert, Button, Checkbox, Group, Textarea, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { Schemas } from '#client/client.js';
import { client, once } from '../api/client.js';
import { invalidate } from '../api/queries.js';
import { Choice } from '../parts/choice.js';
import { useKept } from '../parts/kept.js';
import { navigate } from '../parts/link.js';
import { Failure } from '../parts/loaded.js';
import { useMay } from '../parts/may.js';
import { tellDone, tellFailed } from '../parts/notify.js';
import { Panel } from '../parts/panel.js';
import { COLUMNS, mappingFault, nameOf, proposalOf, type Use } from '../rules/columns.js';
import { pathOf } from '../rules/route.js';
import {
  csvFor,
  decode,
  hasText,
  MOST_BYTES,
  readTable,
  sheetTable,
  type TableFile,
  unusedEans,
} from '../rules/table-file.js';
import { isWorkbook, type Sheet } from '../../../src/spreadsheet/sheet.rules.js';
import { readWorkbook } from '../api/workbook.js';
import { texts } from '../texts.js';
import { readChecked, Result } from './import-result.js';

type Campaign = Schemas['CampaignView'];

const PREVIEW = 10;

/** What a person has begun: the file, and what was chosen, entered and corrected since. */
interface Work {
  readonly file: TableFile;
  readonly rows: TableFile['rows'];
  readonly uses: readonly Use[];
  readonly name: string;
  readonly isInviting: boolean;
}

const begun = (file: TableFile): Work => ({
  file,
  rows: file.rows,
  uses: rememberedFor(file.headers),
  name: file.name.replace(/\.\w+(?=,|$)/, ''),
  isInviting: false,
});

/** Leads a person from a file of customers to a campaign: read, map the columns, check, correct, upload. */
export function ImportPage() {
  const [work, setWork] = useKept<Work>('import');
  return (
    <>
      <div className="title">
        <h1>{texts.import.title}</h1>
        {work !== null && <Button onClick={() => setWork(null)}>{texts.import.takeAnother}</Button>}
      </div>
      {work === null ? (
        <Choose onFile={(file) => setWork(begun(file))} />
      ) : (
        <Prepare
          work={work}
          onChange={(part) => setWork({ ...work, ...part })}
          onDone={() => setWork(null)}
        />
      )}
    </>
  );
}

interface Book {
  readonly name: string;
  readonly sheets: readonly Sheet[];
}

/** Takes a file or rows from anywhere on the page: dropped, pasted, chosen in the dialog of the browser, or typed. */
function Choose({ onFile }: { readonly onFile: (file: TableFile) => void }) {
  const [isOver, setOver] = useState(false);
  const [book, setBook] = useState<Book | null>(null);
  const [rows, setRows] = useState('');
  const take = useMutation({
    mutationFn: async (read: () => TableFile | Promise<TableFile | Book>) => read(),
    onSuccess: (read) => ('sheets' in read ? setBook(read) : onFile(read)),
  });
  const takeFiles = (files: FileList) => take.mutate(() => readFiles(files));
  const takeRows = (text: string) => {
    setRows(text);
    take.mutate(() => readTable(texts.import.pastedRows, text));
  };
  const takeData = (data: DataTransfer | null) => {
    if (data === null) return;
    if (data.files.length > 0) takeFiles(data.files);
    else takeRows(data.getData('text'));
  };
  useTransfers(setOver, takeData);
  return (
    <Panel title={texts.import.fileStep} isWide>
      <label className={isOver ? 'drop over' : 'drop'}>
        <strong>{texts.import.drop}</strong>
        <input
          type="file"
          accept=".xlsx,.xlsm,.csv,.txt,.tsv,.xls,text/csv"
          onChange={({ currentTarget: input }) => {
            if (input.files !== null && input.files.length > 0) takeFiles(input.files);
          }}
          // So that the same file, corrected meanwhile, can be chosen again.
          onClick={({ currentTarget: input }) => (input.value = '')}
        />
        <span className="soft" role="status">
          {take.isPending && texts.import.reading}
        </span>
      </label>
      {book !== null && (
        <>
          <p>{texts.import.chooseSheet(book.name)}</p>
          <Group gap="xs" role="group" aria-label={texts.import.sheets}>
            {book.sheets.map((sheet) => (
              <Button
                key={sheet.name}
                onClick={() => take.mutate(() => sheetTable(`${book.name}, ${sheet.name}`, sheet))}
              >
                {texts.import.sheetOf(sheet.name, sheet.rows.length)}
              </Button>
            ))}
          </Group>
        </>
      )}
      <Textarea
        label={texts.import.paste}
        rows={4}
        spellCheck={false}
        value={rows}
        onChange={(event) => setRows(event.currentTarget.value)}
      />
      {rows.trim() !== '' && (
        <Group>
          <Button size="sm" onClick={() => takeRows(rows)}>
            {texts.import.takeRows}
          </Button>
        </Group>
      )}
      {take.error !== null && (
        <Alert color="red" className="failure" role="alert">
          {take.error.message}
        </Alert>
      )}
    </Panel>
  );
}

/**
 * Calls `take` with what is dropped or pasted anywhere on the page, so that a drop beside the box does not open the file in place of the
 * page, and `setOver` with whether something is held over the page. A paste into a field is left to it.
 */
function useTransfers(setOver: (isOver: boolean) => void, take: (data: DataTransfer | null) => void): void {
  useEffect(() => {
    const over = (event: DragEvent) => (event.preventDefault(), setOver(true));
    const leave = ({ relatedTarget }: DragEvent) => relatedTarget === null && setOver(false);
    const drop = (event: DragEvent) => {
      event.preventDefault();
      setOver(false);
      take(event.dataTransfer);
    };
    const paste = (event: ClipboardEvent) => {
      if (event.target instanceof HTMLInputElement) return;
      event.preventDefault();
      take(event.clipboardData);
    };
    const listeners = { dragover: over, dragleave: leave, drop, paste };
    const entries = Object.entries(listeners) as [string, (event: Event) => void][];
    for (const [type, listen] of entries) window.addEventListener(type, listen);
    return () => {
      for (const [type, listen] of entries) window.removeEventListener(type, listen);
    };
  }, []);
}

/** Reads the file that a person has chosen. Throws Error with what is wrong, in words. */
async function readFiles([file, ...others]: Iterable<File>): Promise<TableFile | Book> {
  if (file === undefined || others.length > 0) throw new Error(texts.import.oneFile);
  if (file.size > MOST_BYTES) throw new Error(texts.import.tooLarge);
  const buffer = await file.arrayBuffer().catch(() => {
    throw new Error(texts.import.unreadable);
  });
  const bytes = new Uint8Array(buffer);
  if (!isWorkbook(bytes)) return readTable(file.name, decode(bytes));
  const sheets = await readWorkbook(buffer);
  const [sheet] = sheets;
  if (sheet === undefined) throw new Error(texts.import.noCells);
  return sheets.length === 1 ? sheetTable(file.name, sheet) : { name: file.name, sheets };
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

interface PrepareProps {
  readonly work: Work;
  readonly onChange: (part: Partial<Work>) => void;
  readonly onDone: () => void;
}

function Prepare({ work, onChange, onDone }: PrepareProps) {
  const { file, rows, uses, name, isInviting } = work;
  const { headers } = file;
  const names = headers.map((header, index) => header || texts.import.column(index + 1));
  const may = useMay();
  /** Whether a row differs from what was checked. */
  const [isCorrected, setCorrected] = useState(false);
  const upload = (dryRun: boolean) => send(csvFor(rows, uses), { dryRun, name, invite: isInviting });
  const check = useMutation({
    mutationFn: async () => {
      setCorrected(false);
      return readChecked(await upload(true));
    },
    onSuccess: () => {
      remember(headers, uses);
      void invalidate('campaigns');
    },
  });
  /** Null if the page has been left. */
  const place = useRef<HTMLDivElement>(null);
  const register = useMutation({
    mutationFn: () => upload(false),
    onError: (error) => place.current === null && tellFailed(error),
    onSuccess: ({ id, rows: count }) => {
      onDone();
      tellDone(texts.import.uploaded(count), {
        to: 'campaigns',
        id,
      });
      void invalidate('campaigns');
      if (place.current !== null) navigate(pathOf('campaigns', id));
    },
  });
  const change = (use: Use, index: number) => {
    check.reset();
    onChange({ uses: uses.map((each, at) => (at === index ? use : each)) });
  };
  const correct = (row: number, column: number, value: string) => {
    setCorrected(true);
    onChange({
      rows: rows.map((cells, at) =>
        at === row ? headers.map((_, of) => (of === column ? value : (cells[of] ?? ''))) : cells,
      ),
    });
  };
  const fault = mappingFault(uses) ?? file.faultOf(uses) ?? null;
  const unused = useMemo(() => unusedEans(rows, uses), [rows, uses]);
  const notice = fault ?? (unused === undefined ? null : texts.import.unusedEans(names[unused]!));
  const filled = rows.filter(hasText);
  const { new: unknown = 0, known = 0 } = check.data?.campaign.summary ?? {};
  const isInvitingOnly = isInviting && unknown === 0 && known > 0;
  return (
    <>
      <Panel title={texts.import.columnsStep(file.name)} isWide>
        <p>{texts.import.firstOf(filled.length, Math.min(PREVIEW, filled.length))}</p>
        <div
          ref={place}
          className="wide-table"
          tabIndex={0}
          role="region"
          aria-label={texts.import.firstRows}
        >
          <table>
            <thead>
              <tr>
                {headers.map((header, index) => (
                  <th key={index} scope="col">
                    <Choice
                      label={names[index]!}
                      value={uses[index] ?? ''}
                      options={[
                        ['', texts.import.notUsed],
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
              {filled.slice(0, PREVIEW).map((row, index) => (
                <tr key={index}>
                  {headers.map((_, column) => (
                    <td
                      key={column}
                      data-title={names[column]}
                      className={uses[column] === '' ? 'soft' : undefined}
                    >
                      {row[column]}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        {notice !== null && (
          <Alert color="yellow" className="notice" role="status">
            {notice}
          </Alert>
        )}
        <Group align="end">
          <TextInput
            size="xs"
            label={texts.import.campaignName}
            value={name}
            maxLength={100}
            onChange={(event) => onChange({ name: event.currentTarget.value })}
          />
          {may('onboarding:write') && (
            <Checkbox
              label={texts.import.inviteOwners}
              checked={isInviting}
              onChange={(event) => onChange({ isInviting: event.currentTarget.checked })}
            />
          )}
          <Button
            size="sm"
            variant={check.data === undefined || isCorrected ? 'filled' : 'default'}
            disabled={fault !== null || check.isPending}
            onClick={() => check.mutate()}
          >
            {check.isPending
              ? texts.import.checking
              : check.data === undefined
                ? texts.import.check
                : texts.import.checkAgain}
          </Button>
        </Group>
        <Failure of={check.error} />
      </Panel>
      {check.data !== undefined && (
        <>
          <Result of={check.data} file={file} rows={rows} uses={uses} onCorrect={correct} />
          <Panel title={texts.import.registerStep} isWide>
            <p>
              {isCorrected
                ? texts.import.correctedSinceCheck
                : texts.import.willBeRegistered(check.data.campaign.summary, isInviting)}
            </p>
            <Group gap="xs">
              {isCorrected && (
                <Button size="sm" variant="filled" disabled={check.isPending} onClick={() => check.mutate()}>
                  {texts.import.checkCorrected}
                </Button>
              )}
              <Button
                size="sm"
                variant="filled"
                disabled={
                  isCorrected || register.isPending || check.isPending || (unknown === 0 && !isInvitingOnly)
                }
                onClick={() => register.mutate()}
              >
                {isInvitingOnly ? texts.import.inviteKnown(known) : texts.import.register(unknown)}
              </Button>
            </Group>
            <Failure of={register.error} />
          </Panel>
        </>
      )}
    </>
  );
}

const send = (body: string, query: { dryRun: boolean; name: string; invite: boolean }): Promise<Campaign> =>
  once({ ...query, body }, (header) => {
    const { name, ...others } = query;
    return client.POST('/api/v1/campaigns', {
      params: { header, query: { ...others, ...(name !== '' && { name }) } },
      body,
      bodySerializer: (text: string) => text,
      headers: { 'content-type': 'text/csv; charset=utf-8' },
    });
  });
