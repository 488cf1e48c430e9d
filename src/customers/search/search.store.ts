import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { prefixPattern, type Term } from './search.rules.js';
import { HitView, type HitKind } from './search.view.js';

/** The most hits of one kind. */
export const MOST_HITS = 20;
/** How many of the newest are searched for words before all are: one in 5 of them suffices for the most hits. */
const NEWEST = 100;

/** The condition that metadata has all words of the text. One condition, for which the index skips to the entries of the rarest word. */
const wordsIn = (metadata: string): string =>
  `jsonb_to_tsvector('simple', ${metadata}, '["string", "numeric"]') @@ plainto_tsquery('simple', $2)`;
/** Whether metadata may have all words of the text. Compares letters: to find the words of 4 kB of metadata takes 0.5 ms, this 0.04 ms. */
const mayHaveWords = (metadata: string): string =>
  `lower(${metadata}::text) LIKE ALL (ARRAY(SELECT '%' || word || '%' FROM unnest(tsvector_to_array(to_tsvector('simple', $2))) word))`;
const wordsAmongFew = (metadata: string) => `${mayHaveWords(metadata)} AND ${wordsIn(metadata)}`;
/** `~<~` is the order of the indexes that find prefixes. */
const prefixOf = (column: string, where: string) =>
  `${where} AND lower(${column}) LIKE lower($1) ORDER BY lower(${column}) USING ~<~`;
const newestOf = (table: string, createdAt: string): string =>
  `(SELECT * FROM ${table} WHERE erased_at IS NULL ORDER BY ${createdAt} DESC, id DESC LIMIT ${NEWEST})`;
const invitationsIn = (invitations: string): string =>
  `${invitations} i JOIN grid_locations g ON g.id = i.grid_location_id JOIN users u ON u.id = g.user_id`;

/** The columns of a hit. */
const SELECTED: Readonly<Record<HitKind, string>> = {
  customer: 'u.id, u.tenant_reference AS label, u.tenant_reference AS "tenantReference"',
  registration: 'r.id, r.tenant_reference AS label, r.tenant_reference AS "tenantReference"',
  session: 's.id, s.state AS label, u.tenant_reference AS "tenantReference"',
  invitation: `i.id, coalesce(i.metadata ->> 'label', u.tenant_reference) AS label, u.tenant_reference AS "tenantReference"`,
  campaign: 'c.id, coalesce(c.name, c.id::text) AS label, NULL AS "tenantReference"',
};
const KNOWN = 'u.erased_at IS NULL';
const OPEN = `r.status IN ('pending', 'uncertain', 'rejected')`;

/**
 * Where hits are found, each by one index that is read up to the most hits of a kind. $1: the pattern of the text, $2: the text, $3: an id,
 * $4: an EAN, $5: the hashes of the tokens of links.
 */
const SEARCH: Readonly<Record<HitKind, readonly string[]>> = {
  customer: [
    `users u WHERE ${KNOWN} AND u.id = $3::uuid`,
    `grid_locations g JOIN users u ON u.id = g.user_id WHERE ${KNOWN} AND (g.id = $3::uuid OR g.ean = $4)`,
    `inverters v JOIN onboarding_sessions s ON s.id = v.session_id JOIN users u ON u.id = s.user_id WHERE ${KNOWN} AND v.id = $3::uuid`,
    `users u WHERE ${prefixOf('u.tenant_reference', KNOWN)}`,
    `${newestOf('users', 'registered_at')} u WHERE ${wordsAmongFew('u.metadata')}`,
  ],
  registration: [
    `registrations r WHERE r.id = $3::uuid`,
    `registrations r WHERE ${OPEN} AND r.eans @> ARRAY[$4::text]`,
    `registrations r WHERE r.status = 'discarded' AND r.tenant_reference = $2`,
    `registrations r WHERE ${prefixOf('r.tenant_reference', OPEN)}`,
  ],
  session: [`onboarding_sessions s JOIN users u ON u.id = s.user_id WHERE ${KNOWN} AND s.id = $3::uuid`],
  invitation: [
    `${invitationsIn('invitations')} WHERE i.erased_at IS NULL AND (i.id = $3::uuid OR i.token_hash = ANY ($5::bytea[]))`,
    `${invitationsIn(newestOf('invitations', 'created_at'))} WHERE ${wordsAmongFew('i.metadata')}`,
  ],
  campaign: [
    `campaigns c WHERE c.id = $3::uuid OR strpos(lower(c.name), lower($2)) > 0 ORDER BY c.created_at DESC`,
  ],
};

/** Searches all for words of metadata, if there are few hits so far. The index collects every row with the words before the first hit. */
const SEARCH_WORDS: Partial<typeof SEARCH> = {
  customer: [`users u WHERE ${KNOWN} AND ${wordsIn('u.metadata')}`],
  // Joins to what the index found: from the locations, PostgreSQL would read the metadata of each invitation.
  invitation: [
    invitationsIn(
      `(SELECT * FROM invitations w WHERE w.erased_at IS NULL AND ${wordsIn('w.metadata')} LIMIT ${MOST_HITS})`,
    ),
  ],
};

@Injectable()
export class SearchStore {
  constructor(private readonly database: Database) {}

  /** Finds hits of these kinds, the exact ones of each kind first. */
  async find({ text, id, ean, tokens }: Term, kinds: readonly HitKind[]): Promise<HitView[]> {
    const hashes = tokens.map((token) => createHash('sha256').update(token).digest());
    const values = [prefixPattern(text), text, id, ean, hashes];
    const hits = new Map(kinds.map((kind) => [kind, new Map<string, HitView>()]));
    await this.database.transaction(async (tx) => {
      // Without this, PostgreSQL reads all customers for frequent words that nobody has together: it expects to find some soon.
      await tx.query('SET LOCAL enable_seqscan = off');
      for (const searches of [SEARCH, SEARCH_WORDS]) {
        const wanted = kinds.filter((kind) => hits.get(kind)!.size < MOST_HITS);
        const statement = statementOf(searches, wanted);
        const found =
          statement === '' ? [] : await tx.query<Omit<HitView, 'object'>>(`${TYPED} ${statement}`, values);
        for (const hit of found)
          if (!hits.get(hit.kind)!.has(hit.id)) hits.get(hit.kind)!.set(hit.id, HitView.of(hit));
      }
    });
    return kinds.flatMap((kind) => [...hits.get(kind)!.values()].slice(0, MOST_HITS));
  }
}

// Names each value with its type, because not every kind uses every value.
const TYPED = 'WITH given AS (SELECT $1::text, $2::text, $3::uuid, $4::text, $5::bytea[])';

const statementOf = (searches: Partial<typeof SEARCH>, kinds: readonly HitKind[]): string =>
  kinds
    .flatMap((kind) =>
      (searches[kind] ?? []).map(
        (source) => `(SELECT '${kind}' AS kind, ${SELECTED[kind]} FROM ${source} LIMIT ${MOST_HITS})`,
      ),
    )
    .join(' UNION ALL ');
