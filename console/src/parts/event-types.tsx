import { Checkbox } from '@mantine/core';
import { useState } from 'react';
import type { Schemas } from '#client/client.js';
import { eventNameOf, wordsOf } from '../format/words.js';
import { EVENT_TYPES } from '../rules/event-types.js';
import { texts } from '../texts.js';

/** The field `types` of a form: the types of events that an endpoint gets. None chosen: all. */
export function EventTypes({ of: given }: { readonly of: readonly string[] }) {
  const [chosen, setChosen] = useState<readonly string[]>(given.map(eventNameOf));
  const put = (names: readonly string[], isChosen: boolean) => {
    const others = chosen.filter((name) => !names.includes(name));
    setChosen(isChosen ? [...others, ...names] : others);
  };
  return (
    <fieldset className="types">
      <legend>{texts.webhooks.types}</legend>
      <Checkbox
        label={texts.webhooks.allTypes}
        checked={chosen.length === 0}
        onChange={() => setChosen([])}
      />
      <div className="subjects">
        {Object.entries(EVENT_TYPES).map(([subject, events]) => {
          const names = events.map((event) => `${subject}.${event}`);
          const count = names.filter((name) => chosen.includes(name)).length;
          return (
            <fieldset key={subject}>
              <legend>
                <Checkbox
                  label={wordsOf(subject)}
                  checked={count === names.length}
                  indeterminate={count > 0 && count < names.length}
                  onChange={(event) => put(names, event.currentTarget.checked)}
                />
              </legend>
              {names.map((name, nth) => (
                <Checkbox
                  key={name}
                  name="types"
                  value={name}
                  label={wordsOf(events[nth]!)}
                  checked={chosen.includes(name)}
                  onChange={(event) => put([name], event.currentTarget.checked)}
                />
              ))}
            </fieldset>
          );
        })}
      </div>
    </fieldset>
  );
}

/** Returns the types that a person has chosen. */
export const typesIn = (form: FormData) => form.getAll('types') as Schemas['WebhookEventType'][];
