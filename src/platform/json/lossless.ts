/** The received text of a number that a double would alter. */
export class LosslessNumber {
  constructor(readonly text: string) {}

  toString(): string {
    return this.text;
  }

  /** Returns the nearest double: JSON.stringify cannot write the text as it is. */
  toJSON(): number {
    return Number(this.text);
  }
}

/** Thrown for text that is not JSON, or is JSON that we refuse. */
export class JsonError extends Error {}

/** Thrown for an object with two values of one name: nobody knows which of them counts. */
export class RepeatedName extends JsonError {}

/** Limits the use of the call stack. A valid body has at most nine levels: one, and the eight of `metadata`. */
const MAX_DEPTH = 64;

/** The codes of blank, tab and line breaks. */
const SPACES = new Set([0x20, 0x09, 0x0a, 0x0d]);
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
// Characters allowed unescaped in a string: no quotation mark, no backslash, no control character (RFC 8259, section 7).
const PLAIN = /[ !#-[\]-\uffff]+/y;
const HEX = /[0-9a-fA-F]{4}/y;
const ESCAPES = new Map(
  Object.entries({ b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\', '/': '/' }),
);
const LITERAL = /true|false|null/y;

interface JsonLimits {
  /** The most names in one object. class-transformer takes quadratic time for them. */
  readonly names: number;
  /** The most names and elements together. */
  readonly items: number;
}

/**
 * The limits of a body or a line of a file: more than any valid one has, and few enough to be read within 25 ms. A registration of 1,000 grid
 * locations has 2,003 items.
 */
export const CALLER_LIMITS: JsonLimits = { names: 1_000, items: 5_000 };
const UNLIMITED: JsonLimits = { names: Infinity, items: Infinity };

/**
 * Parses strict JSON (RFC 8259); throws JsonError. A number that a double would alter, or an integer beyond 2^53, becomes a LosslessNumber.
 * Ignores a byte order mark at the beginning. Refuses duplicate names, nesting deeper than 64, and more than `limits`. Accepts lone surrogates
 * and NUL, which PostgreSQL cannot store.
 */
export const parseLossless = (text: string, limits: JsonLimits = UNLIMITED): unknown =>
  new Parser(text, limits).document();

/** Returns the text of a number from `parseLossless`; undefined for a value that is not a number. */
export function jsonNumberText(value: unknown): string | undefined {
  if (value instanceof LosslessNumber) return value.text;
  return typeof value === 'number' ? String(value) : undefined;
}

class Parser {
  private at = 0;
  private items = 0;
  /** The name at the top to which the value belongs. */
  private field = '';

  constructor(
    private readonly text: string,
    private readonly limits: JsonLimits,
  ) {}

  document(): unknown {
    this.skip('\ufeff');
    const value = this.value(0);
    if (this.at < this.text.length) this.fail('Unexpected text after the value');
    return value;
  }

  private value(depth: number): unknown {
    this.skipSpace();
    const value = this.bareValue(depth);
    this.skipSpace();
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
    this.readItems(depth, '}', () => {
      this.skipSpace();
      const position = this.at;
      if (this.text[position] !== '"') this.fail('A name in double quotes is expected');
      const name = this.string();
      if (members.has(name))
        throw new RepeatedName(`The name ${JSON.stringify(cut(name))} is repeated at position ${position}`);
      if (members.size >= this.limits.names) this.fail(`More than ${this.limits.names} names in an object`);
      if (depth === 1) this.field = name;
      this.skipSpace();
      if (!this.skip(':')) this.fail("':' is expected");
      members.set(name, this.value(depth));
    });
    // An assignment would replace the prototype if a member is named __proto__.
    return Object.fromEntries(members);
  }

  private array(depth: number): unknown[] {
    const array: unknown[] = [];
    this.readItems(depth, ']', () => array.push(this.value(depth)));
    return array;
  }

  /** Reads an object or array from the opening bracket to the closing one. `readItem` reads each part between commas. */
  private readItems(depth: number, close: '}' | ']', readItem: () => void): void {
    if (depth > MAX_DEPTH) this.fail(`Nesting deeper than ${MAX_DEPTH}`);
    this.at++;
    this.skipSpace();
    if (this.skip(close)) return;
    do {
      this.items++;
      if (this.items > this.limits.items)
        this.fail(
          `More than ${this.limits.items} names and elements, in ${JSON.stringify(cut(this.field))},`,
        );
      readItem();
    } while (this.skip(','));
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
    const character = ESCAPES.get(this.text[this.at] ?? '');
    if (character !== undefined) {
      this.at++;
      return character;
    }
    if (!this.skip('u')) this.fail('Invalid escape');
    const digits = this.take(HEX);
    if (digits === '') this.fail('Four hexadecimal digits are expected');
    return String.fromCharCode(parseInt(digits, 16));
  }

  private skipSpace(): void {
    while (SPACES.has(this.text.charCodeAt(this.at))) this.at++;
  }

  private skip(character: string): boolean {
    if (this.text[this.at] !== character) return false;
    this.at++;
    return true;
  }

  private take(pattern: RegExp): string {
    const from = this.at;
    pattern.lastIndex = from;
    // `test` makes no array, unlike `exec`.
    if (pattern.test(this.text)) this.at = pattern.lastIndex;
    return this.text.slice(from, this.at);
  }

  private fail(reason: string): never {
    throw new JsonError(`${this.at < this.text.length ? reason : 'Unexpected end'} at position ${this.at}`);
  }
}

/** Shortens a name that a client chose, for a message. */
const cut = (name: string): string => (name.length > 100 ? `${name.slice(0, 100)}…` : name);

function exactly(text: string): number | LosslessNumber {
  const value = Number(text);
  const isSafe = Math.abs(value) <= Number.MAX_SAFE_INTEGER;
  return isSafe && canonical(String(value)) === canonical(text) ? value : new LosslessNumber(text);
}

/** Returns the digits after `0.` and a power of ten, the same for all notations of a number: 1.50e1 and 15 are both `15e2`. */
function canonical(text: string): string {
  const [mantissa = '', exponent = '0'] = text.replace(/^-/, '').toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const digits = (whole + fraction).replace(/^0+/, '');
  // The pattern /0+$/ would take quadratic time on a long number full of zeros.
  let end = digits.length;
  while (digits[end - 1] === '0') end--;
  return end === 0 ? '0' : `${digits.slice(0, end)}e${Number(exponent) - fraction.length + digits.length}`;
}
