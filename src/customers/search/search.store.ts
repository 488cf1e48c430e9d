import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { prefixPattern, type Term } from './search.rules.js';
import { HitView, type HitKind } from './search.view.js';

/** The most hits of one kind. */
export const MOST_HITS = 20;
/** How many of the newest are searched for words before all are: one in 5 of them suffices for the most hits. */
const NEWEST = 100;

// Each branch reads one index and stops after the most hits of a kind. `~<~` is the order of the indexes that find prefixes.
const branch = (select: string, from: string, where: string, order = ''): string =>
  `(SELECT ${select} FROM ${from} WHERE ${where} ${order} LIMIT ${MOST_HITS})`;
/** The condition that metadata has all words of the text. One condition, for which the index skips to the entries of the rarest word. */
const wordsIn = (metadata: string): string =>
  `jsonb_to_tsvector('simple', ${metadata}, '["string", "numeric"]') @@ plainto_tsquery('simple', $2)`;
/** Whether metadata may have all words of the text. Compares letters: to find the words of 4 kB of metadata takes 0.5 ms, this 0.04 ms. */
const mayHaveWords = (metadata: string): string =>
  `lower(${metadata}::text) LIKE ALL (ARRAY(SELECT '%' || word || '%' FROM unnest(tsvector_to_array(to_tsvector('simple', $2))) word))`;
const wordsAmongFew = (metadata: string) => `${mayHaveWords(metadata)} AND ${wordsIn(metadata)}`;
const prefixOf = (column: string) => `lower(${column}) LIKE lower($1)`;
const inOrder = (column: string) => `ORDER BY lower(${column}) USING ~<~`;

const USER = 'u.id, u.tenant_reference AS label, u.tenant_reference AS "tenantReference"';
const REGISTRATION = 'r.id, r.tenant_reference AS label, r.tenant_reference AS "tenantReference"';
const INVITATION = `i.id, coalesce(i.metadata ->> 'label', u.tenant_reference) AS label, u.tenant_reference AS "tenantReference"`;
const invitationsIn = (invitations: string): string =>
  `${invitations} i JOIN grid_locations g ON g.id = i.grid_location_id JOIN users u ON u.id = g.user_id`;
const newestOf = (table: string, createdAt: string): string =>
  `(SELECT * FROM ${table} WHERE erased_at IS NULL ORDER BY ${createdAt} DESC, id DESC LIMIT ${NEWEST})`;
const OPEN = `r.status IN ('pending', 'uncertain', 'rejected')`;

/** $1: the pattern of the text, $2: the text, $3: an id, $4: an EAN, $5: the hashes of the tokens of links. */
const SEARCH: Readonly<Record<HitKind, readonly string[]>> = {
  customer: [
    branch(USER, 'users u', `u.erased_at IS NULL AND u.id = $3::uuid`),
    branch(
      USER,
      'grid_locations g JOIN users u ON u.id = g.user_id',
      `u.erased_at IS NULL AND (g.id = $3::uuid OR g.ean = $4)`,
    ),
    branch(
      USER,
      'inverters v JOIN onboarding_sessions s ON s.id = v.session_id JOIN users u ON u.id = s.user_id',
      `u.erased_at IS NULL AND v.id = $3::uuid`,
    ),
    branch(
      USER,
      'users u',
      `u.erased_at IS NULL AND ${prefixOf('u.tenant_reference')}`,
      inOrder('u.tenant_reference'),
    ),
    branch(USER, `${newestOf('users', 'registered_at')} u`, wordsAmongFew('u.metadata')),
  ],
  registration: [
    branch(REGISTRATION, 'registrations r', `r.id = $3::uuid`),
    branch(REGISTRATION, 'registrations r', `${OPEN} AND r.eans @> ARRAY[$4::text]`),
    branch(REGISTRATION, 'registrations r', `r.status = 'discarded' AND r.tenant_reference = $2`),
    branch(
      REGISTRATION,
      'registrations r',
      `${OPEN} AND ${prefixOf('r.tenant_reference')}`,
      inOrder('r.tenant_reference'),
    ),
  ],
  session: [
    branch(
      `s.id, s.state AS label, u.tenant_reference AS "tenantReference"`,
      'onboarding_sessions s JOIN users u ON u.id = s.user_id',
      'u.erased_at IS NULL AND s.id = $3::uuid',
    ),
  ],
  invitation: [
    branch(
      INVITATION,
      invitationsIn('invitations'),
      `i.erased_at IS NULL AND (i.id = $3::uuid OR i.token_hash = ANY ($5::bytea[]))`,
    ),
    branch(INVITATION, invitationsIn(newestOf('invitations', 'created_at')), wordsAmongFew('i.metadata')),
  ],
  campaign: [
    branch(
      `c.id, coalesce(c.name, c.id::text) AS label, NULL AS "tenantReference"`,
      'campaigns c',
      `c.id = $3::uuid OR strpos(lower(c.name), lower($2)) > 0`,
      'ORDER BY c.created_at DESC',
    ),
  ],
};

/** Searches all for words of metadata, if there are few hits so far. The index collects every row with the words before the first hit. */
const SEARCH_WORDS: Partial<typeof SEARCH> = {
  customer: [branch(USER, 'users u', `u.erased_at IS NULL AND ${wordsIn('u.metadata')}`)],
  // Joins to what the index found: from the locations, PostgreSQL would read the metadata of each invitation.
  invitation: [
    branch(
      INVITATION,
      invitationsIn(branch('*', 'invitations w', `w.erased_at IS NULL AND ${wordsIn('w.metadata')}`)),
      'true',
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
        (each) => `SELECT '${kind}' AS kind, hit.id, hit.label, hit."tenantReference" FROM ${each} AS hit`,
      ),
    )
    .join(' UNION ALL ');
