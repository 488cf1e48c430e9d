import { CONSENT_WITHDRAWN_AT, IS_REPLACED } from '../../invitations/invitations.sql.js';
import { FORMULA } from '../../platform/spelling.rules.js';
import { LIVE, UNDECIDED } from '../../users/registration/registrations.sql.js';
import type { RowProblemCode } from '../campaign.rules.js';

/** Without statistics, the planner knows nothing about the rows of a new file, and may compare each row with each other. */
export const ANALYZE_ROWS = 'ANALYZE campaign_rows (campaign_id, line, status, tenant_reference, ean)';

// The checks that need all rows of a file. Each statement checks all rows at once ($1: the campaign), because a statement per row would
// take minutes for 100,000 rows. They run in this order, in one transaction. What an UPDATE joins is MATERIALIZED: the planner knows nothing
// about the rows of a small file, and would find all duplicates again for each row.

/**
 * Returns SQL that appends a problem to `problems`. `column` and `message` are SQL, too. `column`: the name of the column in the file, such
 * as `E-A-N`, or ROW.
 */
const withProblem = (column: string, code: RowProblemCode, message: string): string =>
  `problems || jsonb_build_array(jsonb_build_object('column', ${column}, 'code', '${code}', 'message', ${message}))`;

/**
 * Marks the rows on lines $2, whose EANs are rounded although their check digits fit. $3: the name of the column of the EAN, $4: the
 * message. This problem replaces the warning that they are perhaps rounded.
 */
export const MARK_ROUNDED = `
    UPDATE campaign_rows SET status = 'invalid', ean = NULL, problems = jsonb_path_query_array(problems, '$[*] ? (@.code != "ean_perhaps_rounded")')
             || jsonb_build_array(jsonb_build_object('column', $3::text, 'code', 'ean_rounded', 'message', $4::text))
     WHERE campaign_id = $1 AND line = ANY ($2::int[])`;

/** The `column` of a problem that concerns the whole row. */
const ROW = 'NULL';

/**
 * Replaces brands that differ only in case by the one that most rows have (of equally many, by the first in order), and warns of them.
 * $2: the name of the column of the brand.
 */
export const UNIFY_BRANDS = `
    WITH spellings AS MATERIALIZED (
      SELECT brand, first_value(brand) OVER (PARTITION BY lower(brand) ORDER BY count(*) DESC, brand) AS usual
        FROM campaign_rows WHERE campaign_id = $1 AND brand IS NOT NULL GROUP BY brand
    )
    UPDATE campaign_rows AS r SET brand = usual, problems = ${withProblem(
      '$2::text',
      'brand_alike',
      `format('Read as "%s", which other rows have: the brands differ only in case', usual)`,
    )}
      FROM spellings WHERE r.campaign_id = $1 AND r.brand = spellings.brand AND usual <> spellings.brand`;

/**
 * Marks rows that repeat an earlier row, and rows that contradict an earlier row with the same reference and EAN. Rows with the same EAN
 * may have different brands: the owner is invited for each brand.
 */
export const MARK_DUPLICATES = `
    WITH compared AS (
      SELECT line, min(line) OVER location AS first,
             min(line) OVER (PARTITION BY tenant_reference, ean, brand, locale, expected_inverters, metadata) AS same,
             (locale, expected_inverters, metadata) IS DISTINCT FROM (first_value(locale) OVER location,
               first_value(expected_inverters) OVER location, first_value(metadata) OVER location) AS differs
        FROM campaign_rows WHERE campaign_id = $1 AND status = 'accepted'
      WINDOW location AS (PARTITION BY tenant_reference, ean ORDER BY line)
    ), repeated AS MATERIALIZED (
      SELECT * FROM compared WHERE same < line OR (first < line AND differs)
    )
    UPDATE campaign_rows AS r SET status = 'invalid', problems = CASE WHEN same < r.line
             THEN ${withProblem(ROW, 'duplicate_row', `format('This row repeats line %s', same)`)}
             ELSE ${withProblem(ROW, 'row_contradicts', `format('Line %s has the same reference and EAN, but another locale, expectedInverters or metadata', first)`)} END
      FROM repeated WHERE r.campaign_id = $1 AND r.line = repeated.line`;

/** Marks all rows of a reference that has more EANs than one registration takes. $2: that number. */
export const MARK_TOO_MANY_EANS = `
    WITH large AS MATERIALIZED (
      SELECT tenant_reference, count(DISTINCT ean) AS eans FROM campaign_rows WHERE campaign_id = $1 AND status = 'accepted'
      GROUP BY 1 HAVING count(DISTINCT ean) > $2
    )
    UPDATE campaign_rows AS r SET status = 'invalid',
           problems = ${withProblem(ROW, 'too_many_eans', `format('This reference has %s EANs; one customer has at most %s', eans, $2::int)`)}
      FROM large WHERE r.campaign_id = $1 AND r.status = 'accepted' AND r.tenant_reference = large.tenant_reference`;

/**
 * Whether a row has no reference, or a sign or word for none or for that above. A formula that was not calculated, or has failed, and
 * a shortened reference stand for a customer of their own.
 */
const IS_NAMELESS = `tenant_reference IS NULL AND NOT problems @> '[{"code": "reference_rounded"}]' AND NOT (problems @> '[{"code": "reference_invalid"}]'
                    AND EXISTS (SELECT FROM jsonb_array_elements_text(fields) AS cell WHERE cell ~* '${FORMULA.source}'))`;

/** Whether a row has an EAN, or what is left of one. A number of fewer or far more digits may be a total, or belong to an IBAN. */
const HAS_EAN = `(ean IS NOT NULL OR problems @> '[{"code": "ean_rounded"}]' AND fields::text !~ '[eE]\\+?(1[89]|2\\d)"'
                  OR regexp_replace(translate(fields::text, ' .', ''), '[A-Z]{2}\\d{20}', '') ~ '\\d{15}')`;

/**
 * Marks the rows of a reference that has an invalid row. A repeated row does not count as invalid, because its EAN is also in another row.
 * A row without a reference may belong to that above, as in a table with merged cells or ditto marks, unless another row has its EAN. A row
 * whose cells are shifted or swapped belongs to a reference that stands in another column.
 */
export const MARK_OTHER_ROWS = `
    WITH parts AS (
      SELECT *, count(*) FILTER (WHERE NOT is_nameless) OVER (ORDER BY line) AS part
        FROM (SELECT line, tenant_reference, status, ean, problems, fields, ${IS_NAMELESS} AS is_nameless
                FROM campaign_rows WHERE campaign_id = $1) AS given
    ), invalid AS (
      SELECT tenant_reference, line, 'Line %s has the same reference and is invalid' AS reason FROM parts
       WHERE status = 'invalid' AND tenant_reference IS NOT NULL AND NOT problems @> '[{"code": "duplicate_row"}]'
      UNION ALL
      SELECT above.tenant_reference, lost.line, 'Line %s has an EAN without a reference, perhaps of this customer'
        FROM (SELECT * FROM parts WHERE is_nameless AND ${HAS_EAN}) AS lost JOIN parts AS above USING (part)
       WHERE NOT EXISTS (SELECT FROM parts AS other WHERE other.ean = lost.ean AND other.tenant_reference IS NOT NULL)
      UNION ALL
      SELECT btrim(cell), line, 'Line %s is shifted, and has this reference in another column'
        FROM parts, jsonb_array_elements_text(fields) AS cell
       WHERE ean IS NULL AND (tenant_reference ~ '^[0-9]{18}$' OR problems @> '[{"code": "too_many_cells"}]')
    ), faulty AS MATERIALIZED (
      SELECT DISTINCT ON (tenant_reference) * FROM invalid ORDER BY tenant_reference, line
    )
    UPDATE campaign_rows AS r SET status = 'invalid', problems = ${withProblem(
      ROW,
      'other_row_invalid',
      `format(reason || ': a customer is registered with all EANs at once', faulty.line)`,
    )}
      FROM faulty WHERE r.campaign_id = $1 AND r.status = 'accepted' AND r.tenant_reference = faulty.tenant_reference`;

/**
 * Compares references with their live registrations. Rows of a reference with other EANs become invalid. In a dry run ($2), rows of a
 * reference with the same EANs become known; otherwise the drain decides, because the registration may change until then.
 */
export const COMPARE_WITH_REGISTRATIONS = `
    WITH wanted AS (
      SELECT tenant_reference, array_agg(DISTINCT ean ORDER BY ean) AS eans FROM campaign_rows
       WHERE campaign_id = $1 AND status = 'accepted' GROUP BY 1
    ), live AS MATERIALIZED (
      SELECT wanted.tenant_reference, registrations.id, user_id, cardinality(registrations.eans) AS registered,
             wanted.eans = ARRAY(SELECT ean FROM unnest(registrations.eans) AS ean ORDER BY ean) AS same
        FROM wanted JOIN registrations ON registrations.tenant_reference = wanted.tenant_reference AND ${LIVE}
    )
    UPDATE campaign_rows AS r SET registration_id = live.id, user_id = live.user_id, status = CASE WHEN same THEN 'known' ELSE 'invalid' END,
           problems = CASE WHEN same THEN problems ELSE ${withProblem(
             ROW,
             'reference_conflict',
             `CASE registered WHEN 1 THEN 'This reference is already registered with another EAN than in the file'
               ELSE format('This reference is already registered with %s EANs that are not those of the file', registered) END`,
           )} END
      FROM live WHERE r.campaign_id = $1 AND r.status = 'accepted' AND r.tenant_reference = live.tenant_reference AND ($2 OR NOT same)`;

/**
 * Warns about an EAN that another reference has: in the file, as a user, or in an open registration. $2: the name of the column of the EAN.
 * A row to adopt has the EANs of its grid locations.
 */
export const WARN_ELSEWHERE = `
    WITH given AS (
      SELECT line, ean, tenant_reference, adoption FROM campaign_rows WHERE campaign_id = $1 AND status IN ('accepted', 'known')
    ), wanted AS (
      SELECT line, ean, tenant_reference, min(tenant_reference) OVER same <> max(tenant_reference) OVER same AS in_file
        FROM (SELECT line, ean, tenant_reference FROM given WHERE ean IS NOT NULL
              UNION ALL
              SELECT line, value ->> 'ean', tenant_reference FROM given, jsonb_array_elements(adoption #> '{user,gridLocations}')) AS eans
      WINDOW same AS (PARTITION BY ean)
    ), open AS MATERIALIZED (
      SELECT tenant_reference, unnest(eans) AS ean FROM registrations WHERE status IN ${UNDECIDED}
    ), elsewhere AS MATERIALIZED (
      SELECT line FROM wanted WHERE in_file
      UNION
      SELECT line FROM wanted JOIN grid_locations USING (ean) JOIN users ON users.id = user_id
       WHERE users.tenant_reference <> wanted.tenant_reference
      UNION
      SELECT line FROM wanted JOIN open USING (ean) WHERE open.tenant_reference <> wanted.tenant_reference
    )
    UPDATE campaign_rows AS r SET problems = ${withProblem('$2::text', 'ean_elsewhere', `'Another reference has this EAN too'`)}
      FROM elsewhere WHERE r.campaign_id = $1 AND r.line = elsewhere.line`;

/**
 * Warns about a reference of several EANs that probably is not of one customer: it has no digit but 0, is a date, or has many EANs. $2: the
 * name of the column of the reference.
 */
export const WARN_SHARED = `
    WITH shared AS MATERIALIZED (
      SELECT tenant_reference, count(DISTINCT ean) AS eans FROM campaign_rows WHERE campaign_id = $1
      GROUP BY 1 HAVING count(DISTINCT ean) > CASE WHEN tenant_reference !~ '[1-9]'
             OR tenant_reference ~ '^[0-9]{1,4}([-./])[0-9]{1,2}\\1[0-9]{1,4}( |$)' THEN 1 ELSE 20 END
    )
    UPDATE campaign_rows AS r SET problems = ${withProblem(
      '$2::text',
      'reference_shared',
      `format('One customer gets all %s EANs of this reference: is it of one customer, or a name, a date or a word that several have?', eans)`,
    )}
      FROM shared WHERE r.campaign_id = $1 AND r.status IN ('accepted', 'known') AND r.tenant_reference = shared.tenant_reference`;

/**
 * Warns about a reference that looks like another one: in the file, or of a live registration. $2: the name of the column of the reference.
 */
export const WARN_ALIKE = `
    WITH given AS (
      SELECT line, tenant_reference, reference_fold(tenant_reference) AS folded FROM campaign_rows
       WHERE campaign_id = $1 AND status IN ('accepted', 'known')
    ), alike AS MATERIALIZED (
      SELECT line FROM (
        SELECT line, min(tenant_reference) OVER same <> max(tenant_reference) OVER same AS differs FROM given WINDOW same AS (PARTITION BY folded)
      ) AS compared WHERE differs
      UNION
      SELECT line FROM given JOIN registrations ON reference_fold(registrations.tenant_reference) = folded AND ${LIVE}
       WHERE registrations.tenant_reference <> given.tenant_reference
    )
    UPDATE campaign_rows AS r SET problems = ${withProblem('$2::text', 'reference_alike', `'Another reference looks like this one: do both name the same customer?'`)}
      FROM alike WHERE r.campaign_id = $1 AND r.line = alike.line`;

/** Warns about owners who have declined their last invitation or withdrawn their consent, whom the campaign may invite again. */
export const WARN_DECLINED = `
    WITH declined AS (
      SELECT u.tenant_reference, g.ean
        FROM invitations i JOIN grid_locations g ON g.id = i.grid_location_id JOIN users u ON u.id = g.user_id
       WHERE (i.declined_at IS NOT NULL OR ${CONSENT_WITHDRAWN_AT} IS NOT NULL) AND NOT ${IS_REPLACED}
    )
    UPDATE campaign_rows AS r SET problems = ${withProblem(ROW, 'owner_declined', `'The owner has declined, or withdrawn the consent: does the owner want to be asked again?'`)}
      FROM declined
     WHERE r.campaign_id = $1 AND r.status IN ('accepted', 'known') AND r.tenant_reference = declined.tenant_reference
       AND (r.ean = declined.ean OR r.adoption IS NOT NULL)`;

/**
 * Selects at most $3 rows after line $2 that would register a reference, each with the form of the reference that an erasure hashes. Omits
 * a live reference: if it was erased, it has been registered anew since.
 */
export const SELECT_FOLDED = `
    SELECT line, reference_fold(tenant_reference) AS folded FROM campaign_rows AS r
     WHERE campaign_id = $1 AND line > $2 AND status = 'accepted'
       AND NOT EXISTS (SELECT FROM registrations WHERE registrations.tenant_reference = r.tenant_reference AND ${LIVE})
     ORDER BY line LIMIT $3`;

/** Warns about erased references: on line $3[n], if an erasure has the hash $4[n]. $2: the name of the column of the reference. */
export const WARN_ERASED = `
    UPDATE campaign_rows AS r SET problems = ${withProblem('$2::text', 'reference_erased', `'The data of this customer was erased on request: does the customer want to be registered again?'`)}
      FROM unnest($3::int[], $4::bytea[]) AS given (line, hash)
     WHERE r.campaign_id = $1 AND r.line = given.line AND EXISTS (SELECT FROM erasures WHERE reference_hash = hash)`;
