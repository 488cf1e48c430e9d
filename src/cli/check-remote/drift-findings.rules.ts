import type { Drift } from '../../remote/drift.js';
import { findingsOf, type Finding, type SeenObject } from './seen.rules.js';

/** Judges the fields of a response by its drift (drift.ts), which `GET /status` and `admin.contract_drift` show in operation, too. */
export function driftFindings(
  name: string,
  section: string,
  { drifts, fault }: Pick<SeenObject, 'drifts' | 'fault'>,
): Finding[] {
  const { fits } = findingsOf(`${name}.fields`, `the fields of section ${section}`);
  if (drifts.length === 0) return [fits('the same fields')];
  return drifts.map((drift) => ({
    ...textOf(drift, fault !== null),
    check: `${name}.${drift.field}`,
    level: 'differs',
    says: saysOf(drift),
  }));
}

const saysOf = ({ expected }: Drift): string => expected ?? 'not shown';

const IN_THE_WAY = 'The response may be unusable because of it. Ask the provider for the described form.';

function textOf({ kind, expected, found }: Drift, isUnusable: boolean): Pick<Finding, 'saw' | 'means'> {
  switch (kind) {
    case 'new_field':
      return { saw: `a further field: ${found}`, means: 'Ignored. Ask the provider what it means.' };
    case 'missing_field':
      return { saw: 'the field is missing', means: isUnusable ? IN_THE_WAY : 'We do without it.' };
    case 'other_type':
      return { saw: found ?? 'another type', means: isUnusable ? IN_THE_WAY : meansOfType(expected) };
    case 'undescribed_flags':
      return {
        saw: 'flags that section 3 does not describe',
        means:
          'The session is `unrecognised`: nothing is concluded from it. Ask the provider what the flags mean.',
      };
    case 'token_form':
    case 'foreign_id':
      return { saw: found ?? 'something else', means: 'Ask the provider.' };
  }
}

const meansOfType = (expected: string | null): string =>
  expected === 'timestamp'
    ? 'It is not read as a time, and we do without it. Ask the provider for its form.'
    : 'We can read it. Ask the provider whether it stays so.';
