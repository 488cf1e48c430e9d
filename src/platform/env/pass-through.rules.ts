/** The methods that may be passed on to the remote service. */
export const PASSED_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type PassedMethod = (typeof PASSED_METHODS)[number];

/** What SCS_PASS_THROUGH allows: a method, and a path below /api/v1/ssa/ in which `*` stands for one segment. */
interface AllowedCall {
  readonly method: PassedMethod;
  readonly pattern: string;
}

/** The only form of a segment: no escapes, no dots, and none is empty, so that a path cannot mean another one. */
const SEGMENT = /^[A-Za-z0-9_-]+$/;

/** The paths of the operations that only we call, whose effects we record. */
const OWN_PATHS = [
  { path: 'oauth/token', methods: PASSED_METHODS, what: 'the access token' },
  { path: 'users', methods: ['POST', 'PUT', 'PATCH', 'DELETE'], what: 'the registration of users' },
  { path: 'onboarding/pv/*', methods: PASSED_METHODS, what: 'the start and the reading of sessions' },
  { path: 'users/*/pv/onboarding-sessions/*', methods: PASSED_METHODS, what: 'the reading of sessions' },
] as const;

/** Returns what SCS_PASS_THROUGH allows, or what is wrong with it, without the name of the variable. */
export function readPassThrough(text: string): readonly AllowedCall[] | string {
  const allowed: AllowedCall[] = [];
  for (const part of text.split(';').map((each) => each.trim())) {
    // A semicolon at the end is no call.
    if (part === '') continue;
    const [method = '', pattern = '', ...rest] = part.split(/\s+/);
    const isMethod = (PASSED_METHODS as readonly string[]).includes(method);
    const isPattern = pattern.split('/').every((segment) => segment === '*' || SEGMENT.test(segment));
    if (!isMethod || !isPattern || rest.length > 0)
      return `must be METHOD pattern, several separated by semicolons, such as GET users/*/data; POST inverters/*/curtailments: a method is ${PASSED_METHODS.join(', ')}; a pattern is relative to /api/v1/ssa/, and each of its segments is * or letters, digits, _ and -`;
    const call = { method: method as PassedMethod, pattern };
    const own = OWN_PATHS.find(
      ({ path, methods }) => (methods as readonly string[]).includes(method) && overlap(path, pattern),
    );
    if (own !== undefined) return `must not allow ${method} ${pattern}, which reaches ${own.what}`;
    allowed.push(call);
  }
  return allowed.length > 0 ? allowed : 'must contain a method and a pattern such as GET users/*/data';
}

/** Returns the allowed call that a request is, or undefined if there is none. `path`: as it was sent, below /api/v1/scs/. */
export function findAllowed(
  allowed: readonly AllowedCall[],
  method: string,
  path: string,
): AllowedCall | undefined {
  const segments = path.split('/');
  if (!segments.every((segment) => SEGMENT.test(segment))) return undefined;
  return allowed.find((call) => call.method === method && isMatched(call.pattern.split('/'), segments));
}

const isMatched = (pattern: readonly string[], segments: readonly string[]): boolean =>
  pattern.length === segments.length &&
  pattern.every((each, index) => each === '*' || each === segments[index]);

/** Returns whether a path matches both patterns. Ignores the case, since the remote service may. */
function overlap(one: string, other: string): boolean {
  const [ones, others] = [one, other].map((each) => each.toLowerCase().split('/')) as [string[], string[]];
  return (
    ones.length === others.length &&
    ones.every((each, index) => [each, others[index]].includes('*') || each === others[index])
  );
}

const UUID = /[\da-f]{8}-?(?:[\da-f]{4}-?){3}[\da-f]{12}/gi;

/** Returns the ids in a path and its query, in the form in which we store them. */
export const idsIn = (text: string): string[] => [...new Set(text.match(UUID) ?? [])];

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Returns a function that picks these headers. */
const picking =
  (...names: readonly string[]) =>
  (headers: Headers): Record<string, string> =>
    Object.fromEntries(
      names.flatMap((name) => (typeof headers[name] === 'string' ? [[name, headers[name]]] : [])),
    );

/** Returns the headers of a request that are passed on. All others stay here: credentials, cookies, and what describes our connection. */
export const passedRequestHeaders = picking(
  'accept',
  'accept-language',
  'content-language',
  'if-match',
  'if-none-match',
  'prefer',
);

/** Returns the headers of a response that are passed on: those that describe its body, and those that say when to call again. */
export const passedResponseHeaders = picking(
  'content-type',
  'content-language',
  'content-encoding',
  'content-disposition',
  'etag',
  'last-modified',
  'retry-after',
);
