import { formatSeconds } from '../format/duration.js';
import { wordsOf } from '../format/words.js';
import { texts } from '../texts.js';

/** Returns whether a name is a state or an operation. Any other, such as that of a table, stays as a person has to type it. */
const isWord = (name: string): boolean =>
  name.startsWith('awaiting_') || Object.hasOwn(texts.operations, name);

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
      text: index % 2 === 0 ? plainly(text) : text,
      kind: index % 2 === 0 ? 'words' : /^\d/.test(text) ? 'instant' : 'call',
    }))
    .filter(({ text }) => text !== '');

/** Returns a sentence of the API as people read it: durations of many seconds in larger units, and words without underscores. */
export const plainly = (words: string): string =>
  words
    .replace(/\b(\d{3,}) s\b/g, (_, seconds: string) => formatSeconds(Number(seconds)))
    .replace(/\b[a-z]+(?:_[a-z]+)+\b/gi, (name) => (isWord(name.toLowerCase()) ? wordsOf(name) : name));
