import { SCENARIO_NAMES } from './scenarios.js';

const integer = { type: 'integer', minimum: 0 } as const;
const text = { type: 'string' } as const;
const name = { type: 'string', minLength: 1 } as const;
const texts = { type: 'object', additionalProperties: text } as const;

const object = (properties: Record<string, object>, required: readonly string[] = []) => ({
  // A body that is left out is the same as an empty object, except where a field is needed.
  type: required.length === 0 ? ['object', 'null'] : 'object',
  properties,
  required,
  additionalProperties: false,
});

const scenario = { enum: SCENARIO_NAMES };
const speed = { type: 'number', exclusiveMinimum: 0 };
const inverters = {
  oneOf: [
    { ...integer, maximum: 100_000 },
    { type: 'array', items: name },
  ],
};

/** The bodies of the control API. */
export const BODIES = {
  complete: object({
    brand: name,
    inverters: { ...integer, maximum: 100_000 },
    onlineAfterMs: { type: ['integer', 'null'], minimum: 0 },
  }),
  online: object({ inverters, finished: { type: 'boolean' } }),
  fields: object({ set: { type: 'object' }, absent: { type: 'array', items: name } }),
  scenario: object({ name: scenario, speed }, ['name']),
  seed: object({ users: { type: 'integer', minimum: 1, maximum: 1_000_000 } }, ['users']),
  settings: object({
    sessionPath: { enum: ['both', 'onboarding', 'user'] },
    tokenForm: {
      oneOf: [
        { enum: ['timestamp', 'seconds'] },
        { type: 'object', properties: { value: {} }, additionalProperties: false },
      ],
    },
    tokenLifetimeMs: { type: 'integer' },
    sessionLifetimeMs: integer,
    latencyMs: integer,
    maxInFlight: integer,
    overloadStatus: { type: 'integer', minimum: 400, maximum: 599 },
    overloadRetryAfter: { type: ['string', 'null'] },
    scenario,
    speed,
    brands: {
      type: 'array',
      minItems: 1,
      items: object({ id: name, name, onlineAfterMs: { type: ['integer', 'null'], minimum: 0 } }, [
        'id',
        'name',
        'onlineAfterMs',
      ]),
    },
  }),
  fault: object(
    {
      kind: {
        enum: [
          'delay',
          'hold',
          'answer',
          'redirect',
          'too_many_requests',
          'html',
          'reset',
          'truncate',
          'drip',
          'stall',
        ],
      },
      operation: { enum: ['any', 'token', 'register_user', 'start_session', 'read_session', 'probe'] },
      contains: name,
      skip: integer,
      times: { type: ['integer', 'null'], minimum: 1 },
      effect: { type: 'boolean' },
      delayMs: integer,
      status: { type: 'integer', minimum: 200, maximum: 599 },
      headers: texts,
      body: text,
      bodyBase64: text,
      repeat: integer,
      location: text,
      retryAfter: text,
      intervalMs: { type: 'integer', minimum: 1 },
      chunkBytes: { type: 'integer', minimum: 1 },
      from: { enum: ['headers', 'body'] },
      after: { enum: ['nothing', 'headers', 'half'] },
    },
    ['kind'],
  ),
} as const;
