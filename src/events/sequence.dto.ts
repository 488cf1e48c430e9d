import { Field } from '../platform/http/field.js';
import { field, nullable } from '../platform/openapi/schema-of.js';

/** A feed position in a parameter or header, with or without leading zeros. */
export const SEQUENCE = /^0?[0-9]{1,18}$/;

/** Declares an optional feed position. `byDefault` is only the documented default: initialise the property with the same value. */
export const SequenceParameter = (description: string, byDefault?: string): PropertyDecorator =>
  Field({
    type: String,
    description,
    pattern: SEQUENCE.source,
    ...(byDefault !== undefined && { default: byDefault }),
    faultOf: sequenceFault,
  });

const sequenceFault = (value: unknown): string | undefined =>
  typeof value === 'string' && SEQUENCE.test(value)
    ? undefined
    : 'must be a `sequence` or `next` of this feed: a number of at most 19 digits';

export const sequence = (description: string) =>
  field<string>({ type: String, pattern: '^[0-9]{19}$' }, description);

/** The field `sequence` of a session or registration. */
export const LAST_SEQUENCE = nullable(
  sequence(
    'The `sequence` of the last event about it; null if there is none. The response contains all changes up to that event. An event gets ' +
      'its sequence just after its change is committed: a read in between may have the sequence of the previous event',
  ),
);
