/** The letters of a code: none looks like another or like a digit. */
export const CODE_LETTERS = 'ABCDEFGHJKMNPRSTUWXYZ';
export const CODE_LENGTH = 8;
/** For how long a code can be entered. */
export const CODE_MINUTES = 15;

/** Returns the code that a person means, whatever the case, the blanks and the marks. Returns null if it cannot be one. */
export function readCode(given: unknown): string | null {
  if (typeof given !== 'string' || given.length > 100) return null;
  const letters = given
    .normalize('NFKC')
    .toUpperCase()
    .replace(/[^A-Z0-9]/g, '');
  const isCode = letters.length === CODE_LENGTH && [...letters].every((each) => CODE_LETTERS.includes(each));
  return isCode ? letters : null;
}
