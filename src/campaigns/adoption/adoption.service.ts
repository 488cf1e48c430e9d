import { setMaxListeners } from 'node:events';
import { Injectable } from '@nestjs/common';
import { SessionAdoption } from './session-adoption.service.js';
import { unlessRefused } from '../../platform/database/refused-rows.js';
import type { RowProblem } from '../campaign.rules.js';
import { AdoptionStore, type RowToAdopt } from './adoption.store.js';

const ROWS_PER_STEP = 16;

/** Mirrors the users and sessions of rows. A row gets its result only after its sessions are read, so that a killed step is repeated. */
@Injectable()
export class CampaignAdoption {
  constructor(
    private readonly store: AdoptionStore,
    private readonly sessions: SessionAdoption,
  ) {}

  /** Adopts the next rows of a campaign. Returns the lines that have got a result. Adds to `refused` those that PostgreSQL refuses. */
  async adoptNext(
    id: string,
    leaseToken: string,
    signal: AbortSignal,
    refused: Set<number>,
  ): Promise<number[]> {
    // Each read listens, and several run at once.
    setMaxListeners(0, signal);
    const rows = await this.store.findNext(id, leaseToken, ROWS_PER_STEP, [...refused]);
    const adopt = (row: RowToAdopt) =>
      unlessRefused(refused, row.line, `line ${row.line} of campaign ${id}`, () =>
        this.adopt(id, leaseToken, row, signal),
      );
    const done = await Promise.all(rows.map(adopt));
    return rows.filter((_, index) => done[index]).map(({ line }) => line);
  }

  private async adopt(
    id: string,
    leaseToken: string,
    row: RowToAdopt,
    signal: AbortSignal,
  ): Promise<boolean> {
    const adopted = await this.store.adoptUser(id, leaseToken, row);
    if (adopted === null || adopted === 'invalid') return adopted !== null;
    const { tenantReference, adoption } = row;
    const sessions = adoption.sessions.map((each) => ({
      ...each,
      userId: adoption.user.id,
      tenantReference,
    }));
    const { faults, isLater } = await this.sessions.adopt(sessions, signal);
    if (isLater) return false;
    const problems = adoption.sessions.flatMap((session, index): RowProblem[] => {
      const fault = faults.get(session.id);
      const column = `sessions[${index}]`;
      return fault === undefined
        ? []
        : [{ column, code: 'session_not_read', message: `The session ${fault}` }];
    });
    return this.store.end(id, row, adopted.status, adopted.registrationId, problems);
  }
}
