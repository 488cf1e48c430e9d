import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { prefixPattern, type Term } from './search.rules.js';
import type { HitKind, HitView } from './search.view.js';

/** The most hits of one kind. */
export const MOST_HITS = 20;

// Each branch reads one index and stops after the most hits of a kind. `~<~` is the order of the indexes that find prefixes.
const branch = (select: string, from: string, where: string, order = ''): string =>
  `(SELECT ${select} FROM ${from} WHERE ${where} ${order} LIMIT ${MOST_HITS})`;
/** The condition that metadata has all words of the text. One condition, for which the index skips to the entries of the rarest word. */
const wordsIn = (metadata: string): string =>
  `jsonb_to_tsvector('simple', ${metadata}, '["string", "numeric"]') @@ plainto_tsquery('simple', $2)`;
const prefixOf = (column: string) => `lower(${column}) LIKE lower($1)`;
const inOrder = (column: string) => `ORDER BY lower(${column}) USING ~<~`;

const USER = 'u.id, u.tenant_reference AS label, u.tenant_reference AS "tenantReference"';
const REGISTRATION = 'r.id, r.tenant_reference AS label, r.tenant_reference AS "tenantReference"';
const INVITATION = `i.id, coalesce(i.metadata ->> 'label', u.tenant_reference) AS label, u.tenant_reference AS "tenantReference"`;
const INVITATIONS = `invitations i JOIN grid_locations g ON g.id = i.grid_location_id JOIN users u ON u.id = g.user_id`;
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
      'users u',
      `u.erased_at IS NULL AND ${prefixOf('u.tenant_reference')}`,
      inOrder('u.tenant_reference'),
    ),
    branch(USER, 'users u', `u.erased_at IS NULL AND ${wordsIn('u.metadata')}`),
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
      INVITATIONS,
      `i.erased_at IS NULL AND (i.id = $3::uuid OR i.token_hash = ANY ($5::bytea[]))`,
    ),
    branch(INVITATION, INVITATIONS, `i.erased_at IS NULL AND ${wordsIn('i.metadata')}`),
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

@Injectable()
export class SearchStore {
  constructor(private readonly database: Database) {}

  /** Finds hits of these kinds, the exact ones of each kind first. */
  async find({ text, id, ean, tokens }: Term, kinds: readonly HitKind[]): Promise<HitView[]> {
    const hashes = tokens.map((token) => createHash('sha256').update(token).digest());
    const values = [prefixPattern(text), text, id, ean, hashes];
    const statement = kinds
      .flatMap((kind) =>
        SEARCH[kind].map(
          (each, rank) =>
            `SELECT '${kind}' AS kind, ${rank} AS rank, hit.id, hit.label, hit."tenantReference" FROM ${each} AS hit`,
        ),
      )
      .join(' UNION ALL ');
    // Names each value with its type, because not every kind uses every value.
    const typed = `WITH given AS (SELECT $1::text, $2::text, $3::uuid, $4::text, $5::bytea[]) ${statement}`;
    // Without this, PostgreSQL reads all customers for frequent words that nobody has together: it expects to find some soon.
    const found = await this.database.transaction(async (tx) => {
      await tx.query('SET LOCAL enable_seqscan = off');
      return tx.query<HitView>(typed, values);
    });
    return kinds.flatMap((kind) => {
      const hits = new Map<string, HitView>();
      for (const { id: hitId, label, tenantReference, ...hit } of found)
        if (hit.kind === kind && !hits.has(hitId))
          hits.set(hitId, { kind, id: hitId, label, tenantReference });
      return [...hits.values()].slice(0, MOST_HITS);
    });
  }
}
