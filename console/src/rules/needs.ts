import type { Stuck } from '../api/client.js';

const DAY_MS = 86_400_000;

/** Returns whether a case began within the last 24 hours. */
export const isNew = ({ since }: Pick<Stuck, 'since'>, now: Date): boolean =>
  now.getTime() - Date.parse(since) < DAY_MS;

/** A part of a sentence: words, a call of the API such as `POST /api/v1/…`, or an instant in UTC. */
export interface Part {
  readonly text: string;
  readonly kind: 'words' | 'call' | 'instant';
}

/** Splits a sentence of the API into parts, so that calls can be copied and instants are shown in the time zone of the viewer. */
export const partsOf = (sentence: string): Part[] =>
  sentence
    .split(
      /((?:GET|POST|PATCH|DELETE) \/api\/v1\/[^\s:.,;]+|pv-onboarding \w+|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/,
    )
    .map((text, index): Part => ({
      text,
      kind: index % 2 === 0 ? 'words' : /^\d/.test(text) ? 'instant' : 'call',
    }))
    .filter(({ text }) => text !== '');

/**
 * Returns the next step that all items have in common, with `{id}` in place of their ids. Returns null if the steps differ or there is only
 * one item.
 */
export function commonStep(items: readonly Pick<Stuck, 'id' | 'whatToDo'>[]): string | null {
  const [step, ...others] = new Set(items.map(({ id, whatToDo }) => whatToDo.replaceAll(id, '{id}')));
  return items.length > 1 && others.length === 0 ? step! : null;
}
