import type { Transaction } from './database.js';

/** The ids by which the rows of a person are found. `userId`: null if the person has only registrations or rows of campaigns. */
export interface Person {
  readonly userId: string | null;
  readonly tenantReference: string;
  readonly registrationIds: readonly string[];
  readonly gridLocationIds: readonly string[];
  /** Includes the sessions that retention has deleted: events about them may remain. */
  readonly sessionIds: readonly string[];
  readonly invitationIds: readonly string[];
  readonly inverterIds: readonly string[];
  readonly eans: readonly string[];
}

export const peopleOf = ({ userId, registrationIds }: Person): string[] => [
  ...(userId === null ? [] : [userId]),
  ...registrationIds,
];

/** Returns everything that an event about a person, or an entry of the audit log, may have as its subject. */
export const subjectsOf = (person: Person): string[] => [
  ...peopleOf(person),
  ...person.sessionIds,
  ...person.gridLocationIds,
  ...person.invitationIds,
];

interface Erasing {
  readonly at: Date;
  /** Adds a step to be done when all tables are erased, such as an event, which then is not among the erased ones. */
  readonly later: (step: () => Promise<void>) => void;
}

/** The personal data in one table: the only description of it, for an export and for an erasure. */
export interface PersonalData {
  readonly table: string;
  /** The condition of the rows `t` that belong to the person: SQL with the parameter `$1`, and how it is ordered. */
  readonly where: string;
  readonly order: string;
  readonly parameter: (person: Person) => unknown;
  /** What is exported of a row `t`. Default: all columns. */
  readonly columns?: string;
  /** Deletes or empties the rows. Returns their number. */
  readonly erase: (tx: Transaction, person: Person, erasing: Erasing) => Promise<number>;
}

/** The name of a table or column as the API writes it. */
const camelCase = (name: string): string =>
  `lower(left(${name}, 1)) || substr(replace(initcap(replace(${name}, '_', ' ')), ' ', ''), 2)`;

/**
 * Selects the rows of a person in a table, each as text of a JSON object: at most $2 rows after the first $3. Without the columns of
 * ciphertexts and hashes, since links, codes and tokens open something.
 */
// PostgreSQL writes the JSON, because a number that JavaScript reads may lose digits.
export const selectRows = ({ table, where, order, columns = 't' }: PersonalData): string => `
    SELECT (SELECT jsonb_object_agg(${camelCase('key')}, value)
              FROM jsonb_each(to_jsonb(${columns})) WHERE key !~ '_(ciphertext|hash)$')::text AS row
      FROM ${table} t WHERE ${where} ORDER BY ${order} LIMIT $2 OFFSET $3`;

/** Returns the key of a table in the export, such as `gridLocations`. */
export const keyOf = ({ table }: Pick<PersonalData, 'table'>): string =>
  table.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
