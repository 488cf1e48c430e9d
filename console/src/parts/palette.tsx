import { TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState, type KeyboardEvent } from 'react';
import { client } from '../api/client.js';
import { pathOf, type PageName } from '../rules/route.js';
import { pageOf } from '../rules/search.js';
import { texts } from '../texts.js';
import { navigate } from './link.js';
import { useMay } from './may.js';
import { Window } from './window.js';

const PAUSE_MS = 120;

interface Choice {
  readonly kind: string;
  readonly label: string;
  readonly run: () => void;
}

interface Props {
  readonly pages: readonly PageName[];
  readonly onSearch: (text: string) => void;
  readonly onClose: () => void;
}

/** Goes to a page, does what a button of the page does, or finds what is typed. */
export function Palette({ pages, onSearch, onClose }: Props) {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const [acts] = useState(actsOfPage);
  const term = text.trim().toLowerCase();
  const own: Choice[] = [
    ...pages.map((page) => ({
      kind: texts.palette.page,
      label: texts.pages[page],
      run: () => navigate(pathOf(page)),
    })),
    ...acts,
  ].filter(({ label }) => label.toLowerCase().includes(term));
  const all: Choice[] = [...own, ...useHits(text.trim())];
  if (term !== '')
    all.push({
      kind: texts.palette.search,
      label: texts.palette.searchFor(text.trim()),
      run: () => onSearch(text),
    });
  const chosen = Math.min(at, all.length - 1);
  useEffect(
    () => document.getElementById(`choice-${chosen}`)?.scrollIntoView({ block: 'nearest' }),
    [chosen],
  );
  const take = (choice: Choice | undefined) => {
    if (choice === undefined) return;
    onClose();
    choice.run();
  };
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Enter') take(all[chosen]);
    else if (step !== undefined) setAt((chosen + step + all.length) % all.length);
    else return;
    event.preventDefault();
  };
  return (
    <Window title={texts.palette.title} onClose={onClose}>
      <TextInput
        data-autofocus
        role="combobox"
        aria-label={texts.palette.field}
        aria-expanded
        aria-controls="choices"
        aria-activedescendant={all.length > 0 ? `choice-${chosen}` : undefined}
        autoComplete="off"
        spellCheck={false}
        maxLength={200}
        value={text}
        onChange={(event) => (setText(event.currentTarget.value), setAt(0))}
        onKeyDown={press}
      />
      <ul id="choices" role="listbox" aria-label={texts.palette.choices} className="choices">
        {all.map((choice, index) => (
          <li
            key={`${choice.kind} ${index}`}
            id={`choice-${index}`}
            role="option"
            aria-selected={index === chosen}
            onClick={() => take(choice)}
          >
            <span>{choice.label}</span>
            <span className="soft">{choice.kind}</span>
          </li>
        ))}
      </ul>
    </Window>
  );
}

/** The buttons of the page that are not of one row of a list. */
function actsOfPage(): Choice[] {
  const buttons = [...document.querySelectorAll<HTMLButtonElement>('#main button:not(:disabled)')];
  return buttons
    .filter(
      (button) => button.closest('[role="row"], [role="table"]') === null && button.innerText.trim() !== '',
    )
    .map((button) => ({
      kind: texts.palette.act,
      label: button.innerText.trim(),
      run: () => button.click(),
    }));
}

/** What the service finds under a term. It is in the body of the request, and so in no log. */
function useHits(text: string): Choice[] {
  const may = useMay();
  const [term] = useDebouncedValue(text, PAUSE_MS);
  const found = useQuery({
    queryKey: ['customers', 'palette', term],
    queryFn: async () => (await client.POST('/api/v1/search', { body: { q: term } })).data.items,
    enabled: term.length > 1 && (may('users:read') || may('onboarding:read')),
    retry: false,
  });
  if (term !== text) return [];
  return (found.data ?? []).map((hit) => {
    const { to, id } = pageOf(hit);
    return { kind: hit.kind, label: hit.label, run: () => navigate(pathOf(to, id ?? undefined)) };
  });
}
