import { createHash, randomUUID, type Hash } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { Environment } from '../../platform/env/environment.js';
import { Places } from '../../platform/http/places.js';
import { Problem } from '../../platform/problem/problem.js';
import { IntakeStore, type CampaignOptions } from './intake.store.js';
import { openFile } from './read-file.js';
import { addRow, noLooks, roundedFileFault, roundedLines } from './rounded.rules.js';
import type { ReadRow } from './row.rules.js';

const ROWS_PER_INSERT = 500;
/** Bounds the memory of a set whose rows are long. */
const CHARACTERS_PER_INSERT = 262_144;
/** For this many rows, the checks of a file take a few seconds in the database. */
const MAX_ROWS = 250_000;
/** Bounds the memory and the connections that uploads use. */
const UPLOADS = { of: 'uploads', ofKey: 2, inAll: 4 };

/** Stores the file of a campaign row by row, as fast as the database accepts the rows. If the file fails, none of its rows are kept. */
@Injectable()
export class Intake {
  private readonly logger = new Logger(Intake.name);
  private readonly places = new Places(UPLOADS);

  constructor(
    private readonly store: IntakeStore,
    private readonly environment: Environment,
  ) {}

  /**
   * Returns the id of the new campaign, or of the first one if the request repeats its upload. Throws Problem if the file is unusable, or if the
   * replica or `actor` has too many uploads.
   */
  async receive(
    bytes: AsyncGenerator<Buffer, void>,
    options: CampaignOptions,
    actor: string,
  ): Promise<string> {
    const leave = this.places.take(actor);
    const { EAN_CHECK_DIGIT: rule } = this.environment;
    const digest = createHash('sha256');
    const id = randomUUID();
    try {
      const { format, rows, nameOf } = await openFile(digested(bytes, digest), rule, options);
      await this.store.begin(id, options);
      let count = 0;
      const looks = noLooks();
      for await (const set of inSets(rows)) {
        count += set.length;
        if (count > MAX_ROWS)
          throw new Problem(
            'body_too_large',
            `A file has at most ${MAX_ROWS.toLocaleString('en')} rows: split it into several campaigns, with all rows of a customer in the same one`,
          );
        for (const row of set) addRow(looks, row);
        await this.store.insert(id, set);
      }
      if (count === 0) throw new Problem('campaign_empty', 'The file has a header, but no rows');
      const fault = roundedFileFault(looks, rule, options.areReferencesConfirmed);
      if (fault !== undefined) throw new Problem('campaign_rounded', fault);
      const first = await this.store.finish(id, {
        ...options,
        format,
        nameOf,
        rows: count,
        roundedLines: roundedLines(looks, rule),
        actor,
        recognisedBy: { ...options, sha256: digest.digest('hex') },
      });
      if (first !== id) await this.delete(id);
      return first;
    } catch (error) {
      await this.delete(id);
      throw error;
    } finally {
      leave();
      await bytes.return(undefined);
    }
  }

  private async delete(id: string): Promise<void> {
    await this.store.delete(id).catch((failure: unknown) => {
      this.logger.warn(`an upload could not be deleted, and will be later: ${String(failure)}`);
    });
  }
}

async function* digested(bytes: AsyncIterable<Buffer>, digest: Hash): AsyncGenerator<Buffer, void> {
  for await (const part of bytes) {
    digest.update(part);
    yield part;
  }
}

async function* inSets(rows: AsyncIterable<ReadRow>): AsyncGenerator<readonly ReadRow[]> {
  let set: ReadRow[] = [];
  let characters = 0;
  for await (const row of rows) {
    set.push(row);
    characters += row.fields.reduce((sum, cell) => sum + cell.length, 0);
    if (set.length < ROWS_PER_INSERT && characters < CHARACTERS_PER_INSERT) continue;
    yield set;
    set = [];
    characters = 0;
  }
  if (set.length > 0) yield set;
}
