import type { Stuck } from '../api/client.js';

/** What waits for a person for the same reason. */
export interface Need {
  readonly kind: Stuck['kind'];
  readonly reason: string;
  readonly items: readonly Stuck[];
  /** Of these, what began within the last 24 hours. */
  readonly fresh: number;
  readonly oldest: Date;
}

const DAY_MS = 86_400_000;

/** What began within the last 24 hours is new to the person on duty. */
export const isNew = ({ since }: Pick<Stuck, 'since'>, now: Date): boolean =>
  now.getTime() - Date.parse(since) < DAY_MS;

/** Groups by kind and reason: first the groups with new items, of these the largest first. */
export function needsOf(items: readonly Stuck[], now: Date): Need[] {
  const groups = new Map<string, Stuck[]>();
  for (const item of items) {
    const key = `${item.kind} ${item.reason}`;
    groups.set(key, [...(groups.get(key) ?? []), item]);
  }
  const needs = [...groups.values()].map((group) => ({
    kind: group[0]!.kind,
    reason: group[0]!.reason,
    items: group,
    fresh: group.filter((item) => isNew(item, now)).length,
    oldest: new Date(Math.min(...group.map(({ since }) => Date.parse(since)))),
  }));
  return needs.sort((a, b) => b.fresh - a.fresh || b.items.length - a.items.length);
}

/** A part of an instruction: words, or a call of the API such as `POST /api/v1/…`. */
export interface Part {
  readonly text: string;
  readonly isCall: boolean;
}

/** Splits an instruction into words and calls, so that a call can be shown and copied as such. */
export const partsOf = (whatToDo: string): Part[] =>
  whatToDo
    .split(/((?:GET|POST|PATCH|DELETE) \/api\/v1\/[^\s:.,;]+|pv-onboarding \w+)/)
    .map((text, index) => ({ text, isCall: index % 2 === 1 }))
    .filter(({ text }) => text !== '');
