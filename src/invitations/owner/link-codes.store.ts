import { randomInt } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Cipher } from '../../platform/crypto/cipher.js';
import { OUTCOME } from '../../platform/database/connection/patience.js';
import { Database, type Transaction } from '../../platform/database/database.js';
import type { CellRate } from '../../platform/rate/cell-rate.rules.js';
import * as sql from '../invitations.sql.js';
import {
  InvitationsStore,
  recordLinkRead,
  type InvitationRow,
  type LinkReader,
} from '../invitations.store.js';
import { CODE_LENGTH, CODE_LETTERS, CODE_MINUTES } from './link-codes.rules.js';

const CONTEXT = 'invitations/code';
/** The most wrong codes from one client network. A person mistypes a few. */
export const GUESSES: CellRate = { amount: 10, periodMs: 15 * 60_000 };
/**
 * The most wrong codes of the deployment, from whatever addresses. With 1,000 codes of 38 billion valid at a time, guessing at this rate
 * finds one in four years.
 */
const GUESSES_OF_ALL: CellRate = { amount: 1_000, periodMs: 3_600_000 };
/** The subject of the limit of the deployment. */
const ALL = '';

/** Counts a guess of subject $1, each of which counts for $2 ms, unless the guesses that still count would exceed $3 ms. */
const TAKE_GUESS = `
    INSERT INTO code_guesses AS g (subject, clear_at) VALUES ($1, clock_timestamp() + $2 * interval '1 ms')
    ON CONFLICT (subject) DO UPDATE SET clear_at = greatest(g.clear_at, clock_timestamp()) + $2 * interval '1 ms'
     WHERE g.clear_at + $2 * interval '1 ms' <= clock_timestamp() + $3 * interval '1 ms'
    RETURNING subject`;

const GIVE_GUESS_BACK = `UPDATE code_guesses SET clear_at = clear_at - $2 * interval '1 ms' WHERE subject = $1`;

const FORGET_GUESSES = `DELETE FROM code_guesses WHERE clear_at < clock_timestamp()`;

/** `refused`: too many wrong codes. `unknown`: no valid code. */
export type EnteredCode =
  | { readonly kind: 'refused' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'known'; readonly token: string };

/** Codes that a person reads out on the telephone, for links that cannot be sent. A code leads to its link once. */
@Injectable()
export class LinkCodesStore {
  constructor(
    private readonly database: Database,
    private readonly cipher: Cipher,
    private readonly invitations: InvitationsStore,
  ) {}

  /**
   * Gives an invitation that is not over a code in the place of its last. Returns null if the invitation is over. Throws Problem as
   * recordLinkRead does.
   */
  async create(id: string, reader: LinkReader): Promise<{ code: string; expiresAt: Date } | null> {
    const letters = Array.from({ length: CODE_LENGTH }, () => CODE_LETTERS[randomInt(CODE_LETTERS.length)]);
    const code = letters.join('');
    const values = [id, this.cipher.hash(code, CONTEXT), CODE_MINUTES];
    return this.database.transaction(async (tx) => {
      const [created] = await tx.query<{ expiresAt: Date }>(sql.SET_CODE, values);
      // After the wait for a lock, since the caller may have been revoked meanwhile.
      if (created) await recordLinkRead(tx, id, reader, 'code');
      return created ? { code, expiresAt: created.expiresAt } : null;
    }, OUTCOME);
  }

  /**
   * Returns the token of the link to which a code leads, and ends the code. Counts each wrong code, also across restarts and replicas. `code`:
   * null if no code can be what was entered. `network`: that of the client, of which only a hash is stored.
   */
  async enter(code: string | null, network: string): Promise<EnteredCode> {
    const subject = this.cipher.hash(network, 'code_guesses').toString('base64');
    return this.database.transaction(async (tx) => {
      // Counts first, so that guesses at the same time do not pass the limit. The locks are taken in the same order by all.
      if (!(await takeGuess(tx, subject, GUESSES)) || !(await takeGuess(tx, ALL, GUESSES_OF_ALL)))
        return { kind: 'refused' };
      const hashes = code === null ? [] : this.cipher.hashes(code, CONTEXT);
      const [used] = await tx.query<Pick<InvitationRow, 'id' | 'tokenCiphertext'>>(sql.USE_CODE, [hashes]);
      const token = used && this.invitations.tokenOf(used);
      if (!token) return { kind: 'unknown' };
      await tx.query(GIVE_GUESS_BACK, [subject, cellMs(GUESSES)]);
      await tx.query(GIVE_GUESS_BACK, [ALL, cellMs(GUESSES_OF_ALL)]);
      return { kind: 'known', token };
    }, OUTCOME);
  }

  /** Deletes what no longer counts. */
  async forget(): Promise<void> {
    await this.database.query(FORGET_GUESSES);
  }
}

const cellMs = ({ amount, periodMs }: CellRate): number => periodMs / amount;

async function takeGuess(tx: Transaction, subject: string, rate: CellRate): Promise<boolean> {
  return (await tx.query(TAKE_GUESS, [subject, cellMs(rate), rate.periodMs])).length > 0;
}
