export const header = <const T extends object>(description: string, schema: T) => ({ description, schema });
export const TEXT = { type: 'string' } as const;

export const LOCATION = {
  Location: {
    ...header('Path of the resource in the body', { ...TEXT, format: 'uri-reference' }),
    required: true,
  },
};

export const RETRY_AFTER = {
  'Retry-After': header('Seconds to wait before the next request', { type: 'integer', minimum: 1 }),
};
