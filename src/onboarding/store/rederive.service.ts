import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { UnreadableAnswer } from '../../remote/wire/read-response.js';
import type { SessionState } from '../rules/machine.rules.js';
import { planRederivation } from '../rules/rederive.rules.js';
import type { RederivedChange, ReplayedAnswer } from '../rules/rederive.rules.js';
import { readObservation } from '../remote/session.client.js';
import { SELECT_HISTORIES } from './sessions.sql.js';
import { SessionsStore } from './sessions.store.js';

interface HistoryRow {
  readonly id: string;
  readonly state: SessionState;
  readonly rule: string;
  readonly startedUpdatedAt: Date;
  readonly answers: readonly { readonly httpStatus: number; readonly body: string | null }[] | null;
}

const PAGE = 500;
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

/** Replays recorded responses through the current rules, after the provider has explained one that we did not know. */
@Injectable()
export class Rederivation {
  constructor(
    private readonly database: Database,
    private readonly sessions: SessionsStore,
  ) {}

  /** Yields the changes that a replay would make, one page of sessions at a time. `sessionId` limits it to one session. */
  async *plan(sessionId: string | null): AsyncGenerator<readonly RederivedChange[]> {
    for (let after = BEFORE_ALL; ;) {
      const rows = await this.database.query<HistoryRow>(SELECT_HISTORIES, [after, sessionId, PAGE]);
      const last = rows.at(-1);
      if (last === undefined) return;
      after = last.id;
      yield rows
        .map(({ answers, ...session }) =>
          planRederivation({ ...session, answers: (answers ?? []).flatMap(replayed) }),
        )
        .filter((change) => change !== null);
    }
  }

  /** Writes changes, each with its transition, its events and an audit entry. Returns how many still applied. */
  async write(changes: readonly RederivedChange[], actor: string): Promise<number> {
    return changes.length === 0 ? 0 : this.sessions.applyRederived(changes, actor);
  }
}

/**
 * Returns an empty list if an earlier release could read the body but this one cannot: the response is ignored, and the replay continues.
 */
function replayed({ body }: { readonly body: string | null }): ReplayedAnswer[] {
  if (body === null) return [null];
  try {
    return [readObservation(body)];
  } catch (error) {
    if (error instanceof UnreadableAnswer) return [];
    throw error;
  }
}
