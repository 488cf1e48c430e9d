import { FAULT_KINDS } from '../faults.js';
import { OPERATIONS } from '../ledger.js';
import { SCENARIO_NAMES } from '../scenarios.js';

interface Rule {
  readonly expects: string;
  readonly holds: (value: unknown) => boolean;
}

interface BodyShape {
  readonly fields: Readonly<Record<string, Rule>>;
  readonly required?: readonly string[];
}

export class BadBody extends Error {
  readonly statusCode = 400;
}

/** Validates and returns a body. Throws BadBody if a field is unknown, missing or of the wrong type. */
export const readBody = <T>(body: unknown, { fields, required = [] }: BodyShape): T => {
  const given = body ?? {};
  if (!isObject(given)) throw new BadBody('the body must be a JSON object');
  for (const name of required) {
    if (given[name] === undefined)
      throw new BadBody(`${name} is missing: it must be ${fields[name]?.expects}`);
  }
  for (const [name, value] of Object.entries(given)) {
    const rule = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (rule === undefined)
      throw new BadBody(`${name} is not known; there are: ${Object.keys(fields).join(', ')}`);
    if (!rule.holds(value)) throw new BadBody(`${name} must be ${rule.expects}`);
  }
  return given as T;
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isName = (value: unknown): boolean => typeof value === 'string' && value !== '';
const isListOf =
  (holds: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    Array.isArray(value) && value.every(holds);

const whole = (least: number, most = Number.MAX_SAFE_INTEGER): Rule => ({
  expects: `a whole number ${most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`}`,
  holds: (value) => Number.isInteger(value) && Number(value) >= least && Number(value) <= most,
});
const oneOf = (values: readonly string[]): Rule => ({
  expects: `one of ${values.join(', ')}`,
  holds: (value) => typeof value === 'string' && values.includes(value),
});
const orNull = ({ expects, holds }: Rule): Rule => ({
  expects: `${expects}, or null`,
  holds: (value) => value === null || holds(value),
});
const flag: Rule = { expects: 'true or false', holds: (value) => typeof value === 'boolean' };
const text: Rule = { expects: 'a string', holds: (value) => typeof value === 'string' };
const name: Rule = { expects: 'a string that is not empty', holds: isName };
const names: Rule = { expects: 'an array of names', holds: isListOf(isName) };
const fields: Rule = { expects: 'an object', holds: isObject };
const headers: Rule = {
  expects: 'an object of strings',
  holds: (value) => isObject(value) && Object.values(value).every((header) => typeof header === 'string'),
};
const speed: Rule = { expects: 'a number above 0', holds: (value) => typeof value === 'number' && value > 0 };
const scenario = oneOf(SCENARIO_NAMES);
const durationMs = whole(0);
const count = whole(0, 100_000);

export const BODIES = {
  complete: { fields: { brand: name, inverters: count, onlineAfterMs: orNull(durationMs) } },
  online: {
    fields: {
      inverters: {
        expects: 'a number of inverters or an array of ids',
        holds: (value) => count.holds(value) || names.holds(value),
      },
      finished: flag,
    },
  },
  fields: { fields: { set: fields, absent: names } },
  scenario: { fields: { name: scenario, speed }, required: ['name'] },
  seed: { fields: { users: whole(1, 1_000_000) }, required: ['users'] },
  settings: {
    fields: {
      sessionPath: oneOf(['both', 'onboarding', 'user']),
      tokenForm: {
        expects: '"timestamp", "seconds", or an object with the value to return',
        holds: (value) => value === 'timestamp' || value === 'seconds' || isObject(value),
      },
      tokenLifetimeMs: whole(Number.MIN_SAFE_INTEGER),
      sessionLifetimeMs: durationMs,
      latencyMs: durationMs,
      maxInFlight: whole(0),
      overloadStatus: whole(400, 599),
      overloadRetryAfter: orNull(text),
      scenario,
      speed,
      brands: {
        expects: 'an array of brands, each with id, name and onlineAfterMs',
        holds: isListOf(
          (brand) =>
            isObject(brand) &&
            isName(brand.id) &&
            isName(brand.name) &&
            orNull(durationMs).holds(brand.onlineAfterMs),
        ),
      },
    },
  },
  fault: {
    fields: {
      kind: oneOf(FAULT_KINDS),
      operation: oneOf(['any', ...OPERATIONS]),
      contains: name,
      brand: name,
      skip: whole(0),
      times: orNull(whole(1)),
      effect: flag,
      delayMs: durationMs,
      status: whole(200, 599),
      headers,
      body: text,
      bodyBase64: text,
      repeat: whole(0),
      location: text,
      retryAfter: text,
      intervalMs: whole(1),
      chunkBytes: whole(1),
      from: oneOf(['headers', 'body']),
      after: oneOf(['nothing', 'headers', 'half']),
    },
    required: ['kind'],
  },
} as const satisfies Record<string, BodyShape>;
