import type { FieldError } from '../../../platform/problem/problem.js';

/** The custom headers of an endpoint, by name as given. */
export type WebhookHeaders = Readonly<Record<string, string>>;

/** More than any receiver or gateway needs; all are sent with every request. */
const MAX_HEADERS = 10;
const MAX_NAME_LENGTH = 64;
/** Fits a long access token. Ten such headers stay within the 16 kB that most servers accept. */
const MAX_VALUE_LENGTH = 1_024;
/**
 * Only headers that identify the sender. All others describe the message or the connection, which is up to us, or are read by
 * proxies.
 */
const ALLOWED = /^(authorization|x-[a-z0-9-]*[a-z0-9])$/i;
/** The receiver's own proxy would trust these. */
const BELIEVED_BY_PROXIES =
  /^x-(forwarded|real-ip|original|rewrite|http-method|method-override|client|cluster)/i;
const PRINTABLE = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/;

/** Returns the errors of the custom headers. Names the header, never its value. */
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
