import type { FieldError } from '../../../platform/problem/problem.js';

/** The headers of an endpoint's own, by name as it was given. */
export type WebhookHeaders = Readonly<Record<string, string>>;

/** More than any receiver or gateway needs; all of them go with every request. */
const MAX_HEADERS = 10;
const MAX_NAME_LENGTH = 64;
/** A long access token fits; with ten of them a request stays within the 16 kB that most servers take. */
const MAX_VALUE_LENGTH = 1_024;
/**
 * Only what says who sends: everything else describes the message or the connection, which is ours to say, or is read by proxies
 * on the way.
 */
const ALLOWED = /^(authorization|x-[a-z0-9-]*[a-z0-9])$/i;
/** The receiver's own proxy would believe these of us. */
const BELIEVED_BY_PROXIES =
  /^x-(forwarded|real-ip|original|rewrite|http-method|method-override|client|cluster)/i;
const PRINTABLE = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/;

/** What is wrong with the custom headers of an endpoint. Names the header, never its value. */
export function webhookHeaderErrors(value: Readonly<Record<string, unknown>>): FieldError[] {
  const names = Object.keys(value);
  if (names.length > MAX_HEADERS)
    return [{ field: 'headers', message: `must hold at most ${MAX_HEADERS} headers, not ${names.length}` }];
  const seen = new Set<string>();
  return names.flatMap((name) => {
    const message = nameFault(name, seen) ?? valueFault(value[name]);
    seen.add(name.toLowerCase());
    return message === undefined ? [] : [{ field: `headers.${name.slice(0, MAX_NAME_LENGTH)}`, message }];
  });
}

function nameFault(name: string, seen: ReadonlySet<string>): string | undefined {
  if (name.length > MAX_NAME_LENGTH) return `must have a name of at most ${MAX_NAME_LENGTH} characters`;
  if (!ALLOWED.test(name)) return 'is not allowed: a header is Authorization, or begins with X-';
  if (BELIEVED_BY_PROXIES.test(name)) return 'is not allowed: proxies would take it for their own';
  return seen.has(name.toLowerCase()) ? 'stands there twice: case makes no difference' : undefined;
}

function valueFault(value: unknown): string | undefined {
  if (typeof value !== 'string') return 'must be a string';
  if (value.length < 1 || value.length > MAX_VALUE_LENGTH)
    return `must have 1 to ${MAX_VALUE_LENGTH} characters, not ${value.length}`;
  return PRINTABLE.test(value)
    ? undefined
    : 'must be printable ASCII, without a blank at either end or a line break';
}
