import { Textarea, TextInput } from '@mantine/core';
import type { Schemas } from '#client/client.js';
import { client, type StalledItem } from '../api/client.js';
import { queries } from '../api/queries.js';
import { nameOf, type Entry } from '../api/sign-in.js';
import { pageAbout, WORK_SCOPES } from '../rules/stalled.js';
import { texts } from '../texts.js';
import { Act, textIn } from './act.js';
import { useMay } from './may.js';
import { Badge } from './panel.js';
import { Instant } from './time.js';

/** Shows who works on something that is stalled, what they have noted, and until when it is left. */
export const Work = ({ of: { note, assignee, snoozedUntil } }: { readonly of: StalledItem }) => (
  <>
    {assignee !== null && <div>{assignee}</div>}
    {note !== null && <div className="soft">{note}</div>}
    {snoozedUntil !== null && (
      <div>
        {texts.stall.snoozed(
          (word) => (
            <Badge tone="quiet">{word}</Badge>
          ),
          <Instant at={snoozedUntil} />,
        )}
      </div>
    )}
  </>
);

/** Lets a person say who works on something, note what is known, and leave it until later. */
export function WorkAct({ of: item }: { readonly of: StalledItem }) {
  const may = useMay();
  if (!WORK_SCOPES[item.kind].some(may)) return null;
  return (
    <Act
      label={texts.buttons.note}
      button={texts.buttons.save}
      run={async (form) => {
        const snooze = textIn(form, 'snooze');
        const body: Schemas['StallChange'] = {
          kind: item.kind,
          note: textIn(form, 'note') ?? null,
          assignee: textIn(form, 'assignee') ?? null,
          snoozedUntil: snooze === undefined ? null : new Date(snooze).toISOString(),
        };
        return client.PATCH('/api/v1/stalled/{id}', { params: { path: { id: item.id } }, body });
      }}
      done={texts.stall.noted}
      page={pageAbout(item)}
      changes={['stalled']}
      ask={
        <>
          <TextInput
            name="assignee"
            label={texts.stall.worker}
            defaultValue={item.assignee ?? me()}
            maxLength={200}
          />
          <Textarea name="note" label={texts.stall.note} defaultValue={item.note ?? ''} rows={3} />
          <TextInput
            name="snooze"
            type="datetime-local"
            label={texts.stall.snooze}
            description={texts.stall.snoozeHint}
            defaultValue={localOf(item.snoozedUntil)}
          />
        </>
      }
    />
  );
}

/** Returns the name of the person who is signed in. */
function me(): string {
  const entry = queries.getQueryData<Entry>(['entry']);
  return entry?.kind === 'in' ? nameOf(entry.who) : '';
}

/** Returns an instant as a field of the browser has it: in the time zone of the viewer, without one. */
function localOf(at: string | null): string {
  if (at === null) return '';
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
