/** The form of a timestamp, as in `--record` and in the result. */
export interface TimeForm {
  readonly fractionDigits: number;
  readonly zone: 'Z' | 'offset' | 'none';
}

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.(\d{1,9}))?)?(Z|[+-]\d\d:?\d\d)?$/i;

/** Returns the form of a timestamp, or null if the value is not one. */
export function timeFormOf(value: unknown): TimeForm | null {
  const read = typeof value === 'string' ? TIMESTAMP.exec(value) : null;
  if (read === null) return null;
  const [, fraction = '', zone] = read;
  return {
    fractionDigits: fraction.length,
    zone: zone === undefined ? 'none' : /^z$/i.test(zone) ? 'Z' : 'offset',
  };
}

/** Describes a form for people. */
export function describeTimeForm({ fractionDigits, zone }: TimeForm): string {
  const end = { Z: 'with Z', offset: 'with a numeric offset', none: 'without a zone' }[zone];
  return `${end}, ${fractionDigits === 0 ? 'whole seconds' : 'fractional seconds'}`;
}
