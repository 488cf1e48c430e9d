/** The received text of a number that a double would alter. */
export class LosslessNumber {
  constructor(readonly text: string) {}

  toString(): string {
    return this.text;
  }
}

/** Thrown for text that is not JSON, or is JSON that we refuse. */
export class JsonError extends Error {}

/** Limits the use of the call stack. A valid body has at most nine levels: one, and the eight of `metadata`. */
const MAX_DEPTH = 64;

const SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
// Characters allowed unescaped in a string: no quotation mark, no backslash, no control character (RFC 8259, section 7).
const PLAIN = /[ !#-[\]-\uffff]+/y;
const ESCAPE = /["\\/bfnrt]|u[0-9a-fA-F]{4}/y;
const LITERAL = /true|false|null/y;

/**
 * Parses strict JSON (RFC 8259); throws JsonError. A number that a double would alter, or an integer beyond 2^53, becomes a LosslessNumber.
 * Refuses duplicate names, nesting deeper than 64, and a byte order mark. Accepts lone surrogates and NUL, which PostgreSQL cannot store.
 */
export const parseLossless = (text: string): unknown => new Parser(text).document();

/** Returns the text of a number from `parseLossless`; undefined for a value that is not a number. */
export function jsonNumberText(value: unknown): string | undefined {
  if (value instanceof LosslessNumber) return value.text;
  return typeof value === 'number' ? String(value) : undefined;
}

class Parser {
  private at = 0;

  constructor(private readonly text: string) {}

  document(): unknown {
    const value = this.value(0);
    if (this.at < this.text.length) this.fail('Unexpected text after the value');
    return value;
  }

  private value(depth: number): unknown {
    this.take(SPACE);
    const value = this.bareValue(depth);
    this.take(SPACE);
    return value;
  }

  private bareValue(depth: number): unknown {
    const start = this.text[this.at];
    if (start === '{') return this.object(depth + 1);
    if (start === '[') return this.array(depth + 1);
    if (start === '"') return this.string();
    const literal = this.take(LITERAL);
    if (literal !== '') return JSON.parse(literal);
    const number = this.take(NUMBER);
    if (number === '') this.fail('A value is expected');
    return exactly(number);
  }

  private object(depth: number): Record<string, unknown> {
    const members = new Map<string, unknown>();
    this.items(depth, '}', () => {
      this.take(SPACE);
      const position = this.at;
      if (this.text[position] !== '"') this.fail('A name in double quotes is expected');
      const name = this.string();
      if (members.has(name))
        throw new JsonError(`The name ${JSON.stringify(name)} is repeated at position ${position}`);
      this.take(SPACE);
      if (!this.skip(':')) this.fail("':' is expected");
      members.set(name, this.value(depth));
    });
    // An assignment would replace the prototype if a member is named __proto__.
    return Object.fromEntries(members);
  }

  private array(depth: number): unknown[] {
    const array: unknown[] = [];
    this.items(depth, ']', () => array.push(this.value(depth)));
    return array;
  }

  /** Reads an object or array from the opening bracket to the closing one. `readItem` reads each part between commas. */
  private items(depth: number, close: '}' | ']', readItem: () => void): void {
    if (depth > MAX_DEPTH) this.fail(`Nesting deeper than ${MAX_DEPTH}`);
    this.at++;
    this.take(SPACE);
    if (this.skip(close)) return;
    do readItem();
    while (this.skip(','));
    if (!this.skip(close)) this.fail(`',' or '${close}' is expected`);
  }

  private string(): string {
    this.at++;
    let text = this.take(PLAIN);
    while (this.skip('\\')) text += this.escaped() + this.take(PLAIN);
    if (!this.skip('"')) this.fail('A control character in a string must be escaped');
    return text;
  }

  private escaped(): string {
    const escape = this.take(ESCAPE);
    if (escape !== '') return JSON.parse(`"\\${escape}"`) as string;
    this.fail(this.skip('u') ? 'Four hexadecimal digits are expected' : 'Invalid escape');
  }

  private skip(character: string): boolean {
    if (this.text[this.at] !== character) return false;
    this.at++;
    return true;
  }

  private take(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0] ?? '';
    this.at += found.length;
    return found;
  }

  private fail(reason: string): never {
    throw new JsonError(`${this.at < this.text.length ? reason : 'Unexpected end'} at position ${this.at}`);
  }
}

function exactly(text: string): number | LosslessNumber {
  const value = Number(text);
  const isSafe = Math.abs(value) <= Number.MAX_SAFE_INTEGER;
  return isSafe && canonical(String(value)) === canonical(text) ? value : new LosslessNumber(text);
}

/** Returns the significant digits and a power of ten, the same for all notations of a number: 1.50e1 and 15 are both `15e0`. */
function canonical(text: string): string {
  const [mantissa = '', exponent = '0'] = text.replace(/^-/, '').toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const digits = (whole + fraction).replace(/^0+/, '');
  // The pattern /0+$/ would take quadratic time on a long number full of zeros.
  let end = digits.length;
  while (digits[end - 1] === '0') end--;
  return end === 0
    ? '0'
    : `${digits.slice(0, end)}e${Number(exponent) - fraction.length + digits.length - end}`;
}
