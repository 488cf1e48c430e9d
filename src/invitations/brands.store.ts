import type { Database } from '../platform/database/database.js';

/** The first 100 brands of sessions. Reads one entry of the index for each, whatever the number of sessions. */
const LIST_BRANDS = `
  WITH RECURSIVE brands AS (
    (SELECT brand FROM onboarding_sessions WHERE brand IS NOT NULL ORDER BY brand LIMIT 1)
    UNION ALL
    SELECT (SELECT s.brand FROM onboarding_sessions s WHERE s.brand > b.brand ORDER BY s.brand LIMIT 1) FROM brands b WHERE b.brand IS NOT NULL
  )
  SELECT brand FROM brands WHERE brand IS NOT NULL LIMIT 100`;

/** Returns at most 100 brands that sessions have, in the order of their ids. */
export const listBrands = async (database: Database): Promise<string[]> =>
  (await database.query<{ brand: string }>(LIST_BRANDS)).map(({ brand }) => brand);
