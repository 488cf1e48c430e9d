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

/** Replays the answers kept through the rules of today, for when the provider has explained one that we did not know. */
@Injectable()
export class Rederivation {
  constructor(
    private readonly database: Database,
    private readonly sessions: SessionsStore,
  ) {}

  /** What would change, a page of sessions at a time; `sessionId` looks at one session only. */
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

  /** Writes changes, with their transitions and events and an entry in the audit log for each; answers how many still applied. */
  async write(changes: readonly RederivedChange[], actor: string): Promise<number> {
    return changes.length === 0 ? 0 : this.sessions.applyRederived(changes, actor);
  }
}

/** None where an earlier release read what today's readers do not: it says nothing today, and the other sessions are replayed. */
function replayed({ body }: { readonly body: string | null }): ReplayedAnswer[] {
  if (body === null) return [null];
  try {
    return [readObservation(body)];
  } catch (error) {
    if (error instanceof UnreadableAnswer) return [];
    throw error;
  }
}
