/** The types of the fields of a response in the interface description. */
export type FieldType = 'string' | 'UUID' | 'timestamp' | 'URL' | 'boolean' | 'number' | 'anything';

export type Documented = FieldType | readonly [DocumentedFields];
export interface DocumentedFields {
  readonly [name: string]: Documented;
}

/** A difference between a response and its description. */
export interface Drift {
  readonly kind:
    'new_field' | 'missing_field' | 'other_type' | 'undescribed_flags' | 'token_form' | 'foreign_id';
  readonly field: string;
  readonly expected: string | null;
  readonly found: string | null;
}

/** Returns the drift of a field that identifies another object than expected. `owner` describes that object without its values. */
export const foreignId = (field: string, owner: string | null = null): Drift => ({
  kind: 'foreign_id',
  field,
  expected: null,
  found: owner,
});
