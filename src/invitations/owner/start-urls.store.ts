import { Injectable } from '@nestjs/common';
import { START_URLS } from '../../onboarding/store/sessions.sql.js';
import { Cipher } from '../../platform/crypto/cipher.js';
import { Database } from '../../platform/database/database.js';

/** Finds the startUrl of one of the sessions that have changed last. Reads at most 100 entries of the index. */
const FIND_NEWEST_START_URL = `
  SELECT id, ciphertext FROM (
    SELECT id, changed_at, start_url_ciphertext AS ciphertext FROM onboarding_sessions ORDER BY changed_at DESC, id DESC LIMIT 100
  ) changed WHERE ciphertext IS NOT NULL ORDER BY changed_at DESC LIMIT 1`;

@Injectable()
export class StartUrlsStore {
  constructor(
    private readonly database: Database,
    private readonly cipher: Cipher,
  ) {}

  /** Returns the startUrl of a session that has changed lately and is still open, or null if there is none. */
  async findNewest(): Promise<string | null> {
    const [newest] = await this.database.query<{ id: string; ciphertext: Buffer }>(FIND_NEWEST_START_URL);
    return newest ? this.cipher.tryDecrypt(newest.ciphertext, START_URLS.context(newest.id)) : null;
  }
}
