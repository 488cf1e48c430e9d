import type { Database } from '../platform/database/database.js';

/** The recursion `brands`: the brands of sessions, in the order of their ids, and a null after the last. */
// Finds each brand by one look-up in the index (brand, recorded_at): the cost grows with the brands, not with the sessions.
export const BRANDS_OF_SESSIONS = `
    brands AS (
      SELECT min(brand) AS brand FROM onboarding_sessions
      UNION ALL
      SELECT (SELECT min(s.brand) FROM onboarding_sessions s WHERE s.brand > b.brand) FROM brands b WHERE b.brand IS NOT NULL
    )`;

const LIST_BRANDS = `
  WITH RECURSIVE ${BRANDS_OF_SESSIONS} SELECT brand FROM brands WHERE brand IS NOT NULL LIMIT 100`;

/** Returns at most 100 brands that sessions have, in the order of their ids. */
export const listBrands = async (database: Database): Promise<string[]> =>
  (await database.query<{ brand: string }>(LIST_BRANDS)).map(({ brand }) => brand);
