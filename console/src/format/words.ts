const NUMBERS = new Intl.NumberFormat('en');

export const formatNumber = (value: number): string => NUMBERS.format(Math.round(value * 10) / 10);

/** Returns a count with its unit: `1 session`, `1,204 sessions`. */
export const countOf = (count: number, one: string, many = `${one}s`): string =>
  `${formatNumber(count)} ${count === 1 ? one : many}`;

/** Returns a word of the API as people read it: `awaiting_owner` becomes `awaiting owner`. */
export const wordsOf = (word: string): string => word.replaceAll('_', ' ');

/** Returns the name of an event without what all types have. */
export const eventNameOf = (type: string): string => type.replace(/^pv\.|\.v\d+$/g, '');

/** Returns a text as the beginning of a sentence. A name, such as that of a table or a process, stays as a person has to type it. */
export const startingUpper = (text: string): string =>
  /^[^ ]*[_\d]/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
