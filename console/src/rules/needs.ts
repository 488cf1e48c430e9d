import type { Stuck } from '../api/client.js';

const DAY_MS = 86_400_000;

/** What began within the last 24 hours is new to the person on duty. */
export const isNew = ({ since }: Pick<Stuck, 'since'>, now: Date): boolean =>
  now.getTime() - Date.parse(since) < DAY_MS;

/** A part of a sentence: words, a call of the API such as `POST /api/v1/…`, or an instant in UTC. */
export interface Part {
  readonly text: string;
  readonly kind: 'words' | 'call' | 'instant';
}

/** Splits a sentence of the API, so that a call can be copied as such, and an instant is shown in the zone of the viewer. */
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

/** Returns the next step that all items have, with `{id}` in the place of the id of each; null if they differ or there is only one. */
export function commonStep(items: readonly Pick<Stuck, 'id' | 'whatToDo'>[]): string | null {
  const [step, ...others] = new Set(items.map(({ id, whatToDo }) => whatToDo.replaceAll(id, '{id}')));
  return items.length > 1 && others.length === 0 ? step! : null;
}
