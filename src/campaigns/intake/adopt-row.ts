import { normaliseBrand, normaliseReference, brandFault } from '../../platform/spelling.rules.js';
import { isUuid } from '../../platform/uuid.rules.js';
import { eanFault, MAX_GRID_LOCATIONS, type CheckDigitRule } from '../../users/ean.rules.js';
import { isPlainObject } from '../../users/metadata.rules.js';
import { readRemoteUser, type RemoteUser } from '../../users/remote/remote-user.rules.js';
import type { AdoptedSession } from '../adoption/adoption.rules.js';
import type { RowProblem } from '../campaign.rules.js';
import { readEanValue, type ReadEan } from './ean-cell.rules.js';
import { readObject, textOf, valuesOf } from './json-row.js';
import type { FileLine } from './line-reader.js';
import { withStatus, type ReadRow } from './row.rules.js';

/** The properties of a line that adopts a user. The columns of its row in result.csv have the same names. */
export const ADOPT_COLUMNS = ['tenantReference', 'user', 'sessions', 'metadata', 'eanConfirmed'] as const;

const SESSION_NAMES = ['id', 'gridLocationId', 'brand'];
const MAX_SESSIONS = 1_000;

/** Reports that a field is not of the form that is needed. */
type Report = (field: string, message: string) => void;

/** Interprets a line of NDJSON with a user and sessions that exist at the remote service. */
export function readAdoptRow(fileLine: FileLine, rule: CheckDigitRule): ReadRow {
  const read = readObject(fileLine, ADOPT_COLUMNS);
  if ('invalid' in read) return read.invalid;
  const { row } = read;
  const malformed: RowProblem[] = [];
  const report: Report = (column, message) =>
    void malformed.push({ column, code: 'adopt_invalid', message: `${column} ${message}` });
  const user = readUser(row.user, normaliseReference(textOf(row.tenantReference)), report);
  const sessions = readSessions(row.sessions ?? [], user, report);
  const eans = readEans(row.user, { rule, isConfirmed: row.eanConfirmed === true });
  const values = withStatus({
    ...valuesOf(fileLine.line, row, ADOPT_COLUMNS),
    ean: { ean: user?.gridLocations[0]?.ean ?? null },
    problems: [...malformed, ...problemsOf(eans.filter(({ ean }) => ean === null))],
  });
  const adopted = {
    ...values,
    problems: [...values.problems, ...problemsOf(eans.filter(({ ean }) => ean !== null))],
    looks: eans.flatMap(({ look }) => look ?? []),
  };
  return values.status === 'accepted' && user !== null
    ? { ...adopted, adoption: { user, sessions } }
    : adopted;
}

interface EanOfLocation extends ReadEan {
  readonly column: string;
}

/** Reads the EANs of a user object. Omits those of another form, which `readUser` reports. */
function readEans(user: unknown, reading: Parameters<typeof readEanValue>[1]): EanOfLocation[] {
  const locations = isPlainObject(user) ? user.gridLocations : undefined;
  if (!Array.isArray(locations)) return [];
  return locations.flatMap((location: unknown, index) =>
    isPlainObject(location) && eanFault(location.ean) === undefined
      ? [{ column: `user.gridLocations[${index}].ean`, ...readEanValue(location.ean, reading) }]
      : [],
  );
}

const problemsOf = (eans: readonly EanOfLocation[]): RowProblem[] =>
  eans.flatMap(({ column, problem }) => (problem === undefined ? [] : [{ column, ...problem }]));

/** Reads a user object, which may omit its reference. */
function readUser(value: unknown, tenantReference: string, report: Report): RemoteUser | null {
  const withReference = isPlainObject(value) ? { tenantReference, ...value } : value;
  const read = readRemoteUser(withReference, { tenantReference, eans: [] }, 'person');
  if ('faults' in read) {
    for (const { field, message } of read.faults) report(field === 'user' ? field : `user.${field}`, message);
    return null;
  }
  const { length } = read.user.gridLocations;
  if (length >= 1 && length <= MAX_GRID_LOCATIONS) return read.user;
  report('user.gridLocations', `must be 1 to ${MAX_GRID_LOCATIONS} grid locations`);
  return null;
}

function readSessions(value: unknown, user: RemoteUser | null, report: Report): AdoptedSession[] {
  if (!Array.isArray(value) || value.length > MAX_SESSIONS) {
    report('sessions', `must be an array of at most ${MAX_SESSIONS} sessions`);
    return [];
  }
  const seen = new Set<string>();
  return value.flatMap((item: unknown, index) => {
    const column = `sessions[${index}]`;
    if (!isPlainObject(item) || Object.keys(item).some((name) => !SESSION_NAMES.includes(name))) {
      report(column, `must be an object of ${SESSION_NAMES.join(', ')}`);
      return [];
    }
    const { id, gridLocationId = null } = item;
    const brand = typeof item.brand === 'string' ? normaliseBrand(item.brand) : (item.brand ?? null);
    const ofBrand = brand === null ? undefined : brandFault(brand);
    if (ofBrand !== undefined) report(`${column}.brand`, ofBrand);
    if (!isUuid(id)) {
      report(`${column}.id`, 'must be a UUID');
      return [];
    }
    const sessionId = id.toLowerCase();
    if (seen.has(sessionId)) report(`${column}.id`, 'must not be repeated');
    seen.add(sessionId);
    const location = locationOf(gridLocationId, user, (message) =>
      report(`${column}.gridLocationId`, message),
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
  report: (message: string) => void,
): string | null {
  if (user === null) return null;
  const ids = user.gridLocations.map(({ id }) => id);
  if (value === null) {
    if (ids.length === 1) return ids[0]!;
    report('is needed, since the user has several grid locations');
    return null;
  }
  const id = ids.find((each) => isUuid(value) && each === value.toLowerCase());
  if (id === undefined) report('must be a grid location of the user');
  return id ?? null;
}
