import type { Stuck } from '../api/client.js';

const DAY_MS = 86_400_000;

/** What began within the last 24 hours is new to the person on duty. */
export const isNew = ({ since }: Pick<Stuck, 'since'>, now: Date): boolean =>
  now.getTime() - Date.parse(since) < DAY_MS;

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
