import { useState } from 'react';

/** What was typed on a page, by the entry of the browser's history. It is only in memory, since it may name a person. */
const typed = new Map<string, string>();

const entryIn = (state: unknown) => (state as { readonly entry?: string } | null)?.entry;

/** Returns a text like useState, which is there again after Back. */
export function useTyped(name: string): readonly [text: string, set: (text: string) => void] {
  const [text, setText] = useState(() => typed.get(`${entryIn(history.state)} ${name}`) ?? '');
  const set = (next: string) => {
    const entry = entryIn(history.state) ?? crypto.randomUUID();
    history.replaceState({ ...(history.state as object | null), entry }, '');
    typed.set(`${entry} ${name}`, next);
    setText(next);
  };
  return [text, set];
}

const works = new Map<string, unknown>();

/** Returns a value like useState, which is there again when the page is shown again, until the console is loaded anew. */
export function useKept<Value>(name: string): readonly [Value | null, (next: Value | null) => void] {
  const [value, setValue] = useState(() => (works.get(name) ?? null) as Value | null);
  const set = (next: Value | null) => {
    works.set(name, next);
    setValue(next);
  };
  return [value, set];
}

/** Returns titles of columns like useState, which the browser remembers. They name nobody. */
export function useRemembered(
  name: string,
  initial: readonly string[],
): readonly [titles: ReadonlySet<string>, set: (titles: ReadonlySet<string>) => void] {
  const key = `hidden ${name}`;
  const [titles, setTitles] = useState<ReadonlySet<string>>(() => {
    try {
      return new Set(JSON.parse(localStorage.getItem(key) ?? JSON.stringify(initial)) as string[]);
    } catch {
      // The browser forbids storage, or what it stored is no list.
      return new Set(initial);
    }
  });
  const set = (next: ReadonlySet<string>) => {
    setTitles(next);
    try {
      localStorage.setItem(key, JSON.stringify([...next]));
    } catch {
      // The browser forbids storage.
    }
  };
  return [titles, set];
}
