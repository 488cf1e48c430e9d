/** Headers of responses, for the API description. */

/** Path from which the object in the body can be read from now on. */
export const LOCATION = {
  Location: {
    description: 'Path of what the body shows',
    schema: { type: 'string' as const, format: 'uri-reference' },
  },
};

export const RETRY_AFTER = {
  'Retry-After': {
    description: 'How many seconds to wait before asking again',
    schema: { type: 'integer' as const, minimum: 1 },
  },
};
