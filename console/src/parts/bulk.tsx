import { Textarea } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { isTemporary } from '#client/problem.js';
import { client, type StalledItem, once } from '../api/client.js';
import { invalidate } from '../api/queries.js';
import { commonRemedies } from '../rules/bulk.js';
import type { Subject } from '../rules/invalidation.js';
import { Act, textIn } from './act.js';
import { wayOf, type Target } from '../rules/stalled.js';
import { texts } from '../texts.js';
import { useMay } from './may.js';
import { tellDone, tellFailed, tellRefused } from './notify.js';

const SAMPLES = 10;
const POLL_MS = 1_000;
const CHANGES: readonly Subject[] = [
  'stalled',
  'registrations',
  'invitations',
  'sessions',
  'customers',
  'webhooks',
  'status',
  'audit',
];

/** What is acted on, each with a name for a person. */
type Items = readonly { readonly id: string; readonly name: string }[];

interface Props {
  readonly label: string;
  readonly operationId: string;
  readonly on: Items;
  readonly body?: object;
  /** Fields of the dialog, and the body that they make. */
  readonly fields?: ReactNode;
  readonly bodyOf?: (form: FormData) => object;
  /** What a person should know before. */
  readonly note?: string;
  /** Writes how many are acted on. */
  readonly count: (count: number) => string;
  /** What cannot be undone. */
  readonly danger?: string | null;
  readonly onDone: () => void;
}

/** A button that does an operation for many. It acts on exactly those that its preview shows, as a job of the service. */
export const BulkAct = ({
  label,
  operationId,
  on,
  body,
  fields,
  bodyOf,
  note,
  count,
  danger,
  onDone,
}: Props) => {
  const mayAudit = useMay()('admin');
  return (
    <Act
      label={label}
      isDanger={typeof danger === 'string'}
      run={(form) => begin(operationId, form, bodyOf?.(form) ?? body)}
      done={({ shown }) => texts.bulk.accepted(count(shown.length))}
      page={({ id }) => logOf(id, mayAudit)}
      onDone={({ id, shown }) => (onDone(), void follow(id, shown, mayAudit))}
      changes={CHANGES}
      ask={
        <>
          <Preview of={on} count={count} />
          <p className="soft">
            {texts.bulk.skips} {note}
          </p>
          {fields}
          {typeof danger === 'string' && <p className="danger">{danger}</p>}
          <Textarea
            name="reason"
            label={texts.titles.why}
            description={texts.bulk.reason}
            required
            maxLength={500}
          />
        </>
      }
    />
  );
};

/** Shows what is acted on, as it was when the dialog was opened: the list behind it may change. */
function Preview({ of, count }: { readonly of: Items } & Pick<Props, 'count'>) {
  const [shown] = useState(of);
  return (
    <>
      <p>{texts.bulk.preview(count(shown.length))}</p>
      <ul>
        {shown.slice(0, SAMPLES).map(({ id, name }) => (
          <li key={id}>{name}</li>
        ))}
        {shown.length > SAMPLES && <li className="soft">{texts.bulk.more(shown.length - SAMPLES)}</li>}
      </ul>
      <input type="hidden" name="shown" value={JSON.stringify(shown)} />
    </>
  );
}

async function begin(operationId: string, form: FormData, body: object | undefined) {
  const shown = JSON.parse(textIn(form, 'shown') ?? '[]') as Items;
  const input = {
    operationId,
    ids: shown.map(({ id }) => id),
    reason: textIn(form, 'reason') ?? '',
    ...(body && { arguments: { ...body } }),
  };
  const { id } = await once(input, (header) =>
    client.POST('/api/v1/bulk-actions', { params: { header }, body: input }),
  );
  return { id, shown };
}

/** The page with what was done by a bulk action. */
const logOf = (id: string, mayAudit: boolean): Target | null =>
  mayAudit ? { to: 'audit', filters: { targets: id } } : null;

/** Returns null if the service cannot be reached for the moment: the job goes on. */
const readJob = (id: string) =>
  client.GET('/api/v1/bulk-actions/{id}', { params: { path: { id } } }).then(
    ({ data }) => data,
    (error: unknown) => {
      if (isTemporary(error)) return null;
      throw error;
    },
  );

/** Waits for the end of the job, and tells what came of it. */
async function follow(id: string, on: Items, mayAudit: boolean): Promise<void> {
  try {
    for (;;) {
      const data = await readJob(id);
      if (data !== null && data.finishedAt !== null) {
        const { done, skipped, failed } = data.counts;
        const names = new Map(on.map((each) => [each.id, each.name]));
        const others = data.items.filter(({ status }) => status !== 'done');
        const tell = failed > 0 ? tellRefused : tellDone;
        tell(
          <>
            {texts.bulk.result(done, skipped, failed)}
            {others.length > 0 && (
              <ul>
                {others.slice(0, SAMPLES).map((each) => (
                  <li key={each.id}>
                    {names.get(each.id)}: {each.detail ?? each.status}
                  </li>
                ))}
              </ul>
            )}
          </>,
          logOf(id, mayAudit),
        );
        return void invalidate(...CHANGES);
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  } catch (error) {
    tellFailed(error);
  }
}

interface RemediesProps {
  readonly of: readonly StalledItem[];
  /** Returns the text of a button. Default: the label of the remedy. */
  readonly label?: (remedy: string) => string;
  /** Shown if they have no remedy in common. */
  readonly none?: string;
  readonly onDone: () => void;
}

/** The remedies that all of these items have, and that this person may apply. */
export function BulkRemedies({
  of: items,
  label: labelOf = (remedy) => remedy,
  none,
  onDone,
}: RemediesProps) {
  const may = useMay();
  const common = commonRemedies(items).filter((remedy) => wayOf(remedy, may) === 'call');
  if (common.length === 0) return none;
  return common.map(({ operationId, label, confirm, body, on }) => (
    <BulkAct
      key={operationId}
      label={labelOf(label)}
      operationId={operationId}
      on={on}
      {...(body !== null && { body })}
      count={texts.counts.item}
      danger={confirm}
      onDone={onDone}
    />
  ));
}
