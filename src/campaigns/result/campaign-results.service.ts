import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { Places } from '../../platform/http/places.js';
import { InvitationsService } from '../../invitations/invitations.service.js';
import { CampaignsStore, type CampaignRow } from '../campaigns.store.js';
import type { ResultRow } from './result-csv.js';

const ROWS_PER_PAGE = 1_000;
/** Limits downloads, because each page occupies the process for some 50 ms, in which other requests wait. */
const DOWNLOADS = { of: 'downloads', ofKey: 2 };

/** Reads rows with the links of their invitations. */
@Injectable()
export class CampaignResults {
  private readonly places = new Places(DOWNLOADS);

  constructor(
    private readonly store: CampaignsStore,
    private readonly invitations: InvitationsService,
  ) {}

  /** Returns the rows with their links, or with null in their place if the caller must not see them. */
  async withLinks(rows: readonly CampaignRow[], mayReadLinks: boolean): Promise<ResultRow[]> {
    const ids = mayReadLinks ? rows.flatMap(({ invitationId }) => invitationId ?? []) : [];
    const urls = await this.invitations.urlsOf(ids);
    return rows.map((row) => ({ ...row, invitationUrl: urls.get(row.invitationId ?? '') ?? null }));
  }

  /** Returns a stream of these parts, which buffers at most one. Throws Problem if `actor` downloads too many at the same time. */
  stream(parts: AsyncIterable<string>, actor: string): Readable {
    const leave = this.places.take(actor);
    return Readable.from(parts, { highWaterMark: 1 }).once('close', leave);
  }

  /**
   * Returns all rows page by page. Reads the next page once the caller has taken the page before. Throws at the end if the campaign was
   * deleted meanwhile. Then the connection is reset, so that the rows do not look like all.
   */
  async *pages(id: string, mayReadLinks: boolean): AsyncGenerator<readonly ResultRow[]> {
    for (let cursor = { line: '0' }; ;) {
      const { items: rows } = await this.store.rows(id, { limit: ROWS_PER_PAGE, cursor });
      if (rows.length === 0) break;
      yield await this.withLinks(rows, mayReadLinks);
      cursor = { line: String(rows.at(-1)!.line) };
    }
    if ((await this.store.find(id)) === null) throw new Error('the campaign was deleted during the download');
  }
}
