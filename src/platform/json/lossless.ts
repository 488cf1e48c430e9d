/** A number that a double would alter, as the text received. */
export class LosslessNumber {
  constructor(readonly text: string) {}

  toString(): string {
    return this.text;
  }
}

/** Text that is not JSON, or not JSON as we accept it. `position` counts UTF-16 units from 0. */
export class JsonError extends Error {
  constructor(
    readonly reason: string,
    readonly position: number,
  ) {
    super(`${reason} at position ${position}`);
  }
}

/** Neither our documents nor those of the remote service nest deeper than six levels, and every level costs call stack. */
const MAX_DEPTH = 64;

const SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
// Characters allowed unescaped in a string: no quotation mark, no backslash, no control character (RFC 8259, section 7).
const PLAIN = /[ !#-[\]-\uffff]+/y;
const HEX = /[0-9a-fA-F]{4}/y;
const ESCAPES = new Map([
  ['"', '"'],
  ['\\', '\\'],
  ['/', '/'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
]);
const LITERALS = [
  ['true', true],
  ['false', false],
  ['null', null],
] as const;

/**
 * Parses strict JSON (RFC 8259) to plain values; throws JsonError. A number that a double would alter, and any integer beyond 2^53, becomes
 * a LosslessNumber. Besides bad syntax it refuses what JSON.parse or lossless-json would accept: a name that occurs twice in one object
 * (even with equal values), nesting deeper than 64, and a byte order mark. `__proto__` becomes an ordinary property. Lone surrogates and
 * NUL are legal JSON and pass; code that stores the text must refuse them.
 */
export function parseLossless(text: string): unknown {
  return new Parser(text).document();
}

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
    for (const [literal, value] of LITERALS) {
      if (this.text.startsWith(literal, this.at)) {
        this.at += literal.length;
        return value;
      }
    }
    const number = this.take(NUMBER);
    if (number === '') this.fail(start === undefined ? 'Unexpected end' : 'A value is expected');
    return exactly(number);
  }

  private object(depth: number): Record<string, unknown> {
    this.enter(depth);
    const object: Record<string, unknown> = {};
    if (this.skip('}')) return object;
    do {
      this.take(SPACE);
      const position = this.at;
      if (this.text[position] !== '"') this.fail('A name in double quotes is expected');
      const name = this.string();
      if (Object.hasOwn(object, name))
        throw new JsonError(`The name ${JSON.stringify(name)} stands twice`, position);
      this.take(SPACE);
      if (!this.skip(':')) this.fail("':' is expected");
      const value = this.value(depth);
      // Assignment to __proto__ would replace the prototype.
      if (name === '__proto__')
        Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
      else object[name] = value;
    } while (this.skip(','));
    if (!this.skip('}')) this.fail("',' or '}' is expected");
    return object;
  }

  private array(depth: number): unknown[] {
    this.enter(depth);
    const array: unknown[] = [];
    if (this.skip(']')) return array;
    do array.push(this.value(depth));
    while (this.skip(','));
    if (!this.skip(']')) this.fail("',' or ']' is expected");
    return array;
  }

  private string(): string {
    this.at++;
    let text = this.take(PLAIN);
    while (this.text[this.at] === '\\') {
      this.at++;
      text += this.escaped() + this.take(PLAIN);
    }
    if (!this.skip('"'))
      this.fail(
        this.at < this.text.length ? 'A control character in a string must be escaped' : 'Unexpected end',
      );
    return text;
  }

  private escaped(): string {
    const letter = this.text[this.at] ?? '';
    const plain = ESCAPES.get(letter);
    if (plain === undefined && letter !== 'u') this.fail('An escape that JSON does not have');
    this.at++;
    if (plain !== undefined) return plain;
    const hex = this.take(HEX);
    if (hex === '') this.fail('Four hexadecimal digits are expected');
    return String.fromCharCode(Number.parseInt(hex, 16));
  }

  private enter(depth: number): void {
    if (depth > MAX_DEPTH) this.fail(`Nesting deeper than ${MAX_DEPTH}`);
    this.at++;
    this.take(SPACE);
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
    throw new JsonError(this.at < this.text.length ? reason : 'Unexpected end', this.at);
  }
}

function exactly(text: string): number | LosslessNumber {
  const value = Number(text);
  if (Number.isInteger(value) ? !Number.isSafeInteger(value) : !Number.isFinite(value))
    return new LosslessNumber(text);
  // Fifteen decimal digits always survive a double, unless an exponent moves them out of its range.
  if (text.length <= 15 && !/e/i.test(text)) return value;
  return canonical(String(value)) === canonical(text) ? value : new LosslessNumber(text);
}

/** Returns the significant digits and a power of ten, the same for all notations of a number: 1.50e1 and 15 are both `15e0`. */
function canonical(text: string): string {
  const [mantissa = '', exponent = '0'] = text.replace(/^-/, '').toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const digits = (whole + fraction).replace(/^0+/, '');
  // Not /0+$/, which takes quadratic time on a long number full of zeros.
  let end = digits.length;
  while (digits[end - 1] === '0') end--;
  return end === 0
    ? '0'
    : `${digits.slice(0, end)}e${Number(exponent) - fraction.length + digits.length - end}`;
}
