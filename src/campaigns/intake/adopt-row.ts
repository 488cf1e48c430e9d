import { brandFault } from '../../onboarding/rules/brand.rules.js';
import { isUuid } from '../../platform/uuid.rules.js';
import {
  hasValidCheckDigit,
  isOfDouble,
  MAX_GRID_LOCATIONS,
  readGridLocations,
  roundedEans,
} from '../../users/ean.rules.js';
import { isPlainObject, type Metadata } from '../../users/metadata.rules.js';
import { readRemoteUser, type RemoteUser } from '../../users/remote/remote-user.rules.js';
import type { AdoptedSession } from '../adoption/adoption.rules.js';
import type { RowProblem } from '../campaign.rules.js';
import { PERHAPS_ROUNDED, type CheckDigitRule } from './ean-cell.rules.js';
import { readObject, textOf } from './json-row.js';
import type { FileLine } from './line-reader.js';
import { withStatus, type ReadRow } from './row.rules.js';

/** The properties of a line that adopts a user. The columns of its row in result.csv have the same names. */
export const ADOPT_COLUMNS = ['tenantReference', 'user', 'sessions', 'metadata'] as const;

const SESSION_NAMES = ['id', 'gridLocationId', 'brand'];
const MAX_SESSIONS = 1_000;

type Fault = (column: string, message: string) => void;

/** Interprets a line of NDJSON with a user and sessions that exist at the remote service. */
export function readAdoptRow(fileLine: FileLine, rule: CheckDigitRule): ReadRow {
  const read = readObject(fileLine, ADOPT_COLUMNS);
  if ('invalid' in read) return read.invalid;
  const { row } = read;
  const problems: RowProblem[] = [];
  const warnings: RowProblem[] = [];
  const fault: Fault = (column, message) =>
    void problems.push({ column, code: 'adopt_invalid', message: `${column} ${message}` });
  const tenantReference = textOf(row.tenantReference);
  const user = readUser(row.user, tenantReference, fault);
  for (const { field, message } of roundedEans(row.user))
    problems.push({ column: `user.${field}`, code: 'ean_rounded', message: `The EAN ${message}` });
  if (user !== null) {
    const checked = readGridLocations(user.gridLocations, rule);
    const isFault = checked.errors.length > 0;
    for (const { field, message } of isFault ? checked.errors : checked.warnings) {
      const problem = {
        column: `user.${field}`,
        code: 'ean_check_digit',
        message: `The EAN ${message}`,
      } as const;
      (isFault ? problems : warnings).push(problem);
    }
    const { gridLocations: given } = row.user as { readonly gridLocations: readonly { ean: unknown }[] };
    for (const [index, { ean }] of user.gridLocations.entries())
      if (typeof given[index]!.ean !== 'string' && isOfDouble(ean) && hasValidCheckDigit(ean))
        warnings.push({
          column: `user.gridLocations[${index}].ean`,
          code: 'ean_perhaps_rounded',
          message: PERHAPS_ROUNDED,
        });
  }
  const sessions = readSessions(row.sessions ?? [], user, fault);
  const values = withStatus({
    line: fileLine.line,
    tenantReference,
    ean: { ean: user?.gridLocations[0]?.ean ?? null },
    brand: '',
    locale: '',
    expectedInverters: '',
    // withStatus reports a value of another type.
    metadata: (row.metadata ?? {}) as Metadata,
    fields: ADOPT_COLUMNS.map((name) => textOf(row[name])),
    nameOf: (name) => name,
    problems,
  });
  const all = { ...values, problems: [...values.problems, ...warnings] };
  return values.status === 'accepted' && user !== null ? { ...all, adoption: { user, sessions } } : all;
}

function readUser(value: unknown, tenantReference: string, fault: Fault): RemoteUser | null {
  const given = isPlainObject(value) ? { tenantReference, ...value } : value;
  const read = readRemoteUser(given, { tenantReference, eans: [] }, 'person');
  if ('faults' in read) {
    for (const { field, message } of read.faults) fault(field === 'user' ? field : `user.${field}`, message);
    return null;
  }
  const { length } = read.user.gridLocations;
  if (length >= 1 && length <= MAX_GRID_LOCATIONS) return read.user;
  fault('user.gridLocations', `must be 1 to ${MAX_GRID_LOCATIONS} grid locations`);
  return null;
}

function readSessions(value: unknown, user: RemoteUser | null, fault: Fault): AdoptedSession[] {
  if (!Array.isArray(value) || value.length > MAX_SESSIONS) {
    fault('sessions', `must be an array of at most ${MAX_SESSIONS} sessions`);
    return [];
  }
  const seen = new Set<string>();
  return value.flatMap((item: unknown, index) => {
    const column = `sessions[${index}]`;
    if (!isPlainObject(item) || Object.keys(item).some((name) => !SESSION_NAMES.includes(name))) {
      fault(column, `must be an object of ${SESSION_NAMES.join(', ')}`);
      return [];
    }
    const { id, gridLocationId = null, brand = null } = item;
    const ofBrand = brand === null ? undefined : brandFault(brand);
    if (ofBrand !== undefined) fault(`${column}.brand`, ofBrand);
    if (!isUuid(id)) {
      fault(`${column}.id`, 'must be a UUID');
      return [];
    }
    const sessionId = id.toLowerCase();
    if (seen.has(sessionId)) fault(`${column}.id`, 'must not be repeated');
    seen.add(sessionId);
    const location = locationOf(gridLocationId, user, (message) =>
      fault(`${column}.gridLocationId`, message),
    );
    return location === null
      ? []
      : [{ id: sessionId, gridLocationId: location, brand: brand as string | null }];
  });
}

/** Returns the given location of a session. Default: the location of its user, if there is only one. */
function locationOf(
  value: unknown,
  user: RemoteUser | null,
  fault: (message: string) => void,
): string | null {
  if (user === null) return null;
  const ids = user.gridLocations.map(({ id }) => id);
  if (value === null) {
    if (ids.length === 1) return ids[0]!;
    fault('is needed, since the user has several grid locations');
    return null;
  }
  const id = ids.find((each) => isUuid(value) && each === value.toLowerCase());
  if (id === undefined) fault('must be a grid location of the user');
  return id ?? null;
}
