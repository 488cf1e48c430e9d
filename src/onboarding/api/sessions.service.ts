import { Injectable } from '@nestjs/common';
import { Authentication } from '../../access/authentication.service.js';
import { actorOf, hasScope } from '../../access/scopes.js';
import type { Principal } from '../../access/scopes.js';
import { decodeCursor, toPage } from '../../platform/http/page.js';
import { HeldRequests } from '../../platform/http/held-requests.js';
import type { HoldableRequest } from '../../platform/http/held-requests.js';
import type { Page } from '../../platform/http/page.js';
import { Problem } from '../../platform/problem/problem.js';
import { SessionAnswersStore } from '../store/session-views.store.js';
import type { SessionRow } from '../store/session-views.store.js';
import { SessionRefreshService } from '../poll/refresh.service.js';
import { sessionView } from './session-view.js';
import type { NewSession, SessionQuery, SessionsQuery, SessionView } from './sessions.dto.js';
import { StartSessionService } from '../start/start-session.service.js';
import { StateWatch } from './state-watch.service.js';

/** Serves sessions to the tenant's apps. */
@Injectable()
export class SessionsService {
  constructor(
    private readonly starts: StartSessionService,
    private readonly answers: SessionAnswersStore,
    private readonly refreshes: SessionRefreshService,
    private readonly watch: StateWatch,
    private readonly held: HeldRequests,
    private readonly authentication: Authentication,
  ) {}

  async start(gridLocationId: string, wanted: NewSession, key: Principal) {
    const { brand = null, metadata = {}, reuse = true } = wanted;
    const { session, reused } = await this.starts.start({ gridLocationId, brand, metadata, reuse });
    return { session: this.view(session, key), reused };
  }

  async list({ limit, cursor, ...filter }: SessionsQuery, key: Principal): Promise<Page<SessionView>> {
    const position = decodeCursor(cursor, ['instant', 'uuid']);
    const after = position && { changedAt: new Date(position[0]), id: position[1] };
    const rows = await this.answers.listSessions(filter, after, limit + 1);
    const page = toPage(rows, limit, (row) => [row.changedAt, row.id]);
    return { ...page, items: page.items.map((row) => this.view(row, key)) };
  }

  /** `request` is held open if the query has `wait`. */
  async read(
    id: string,
    query: SessionQuery,
    key: Principal,
    request: HoldableRequest,
  ): Promise<SessionView> {
    const session = await this.find(id, query);
    return this.view(await this.waitForChange(session, query, key, request), key);
  }

  async readOfUser(
    userId: string,
    id: string,
    query: SessionQuery,
    key: Principal,
    request: HoldableRequest,
  ): Promise<SessionView> {
    const session = await this.answers.getSession(id);
    if (session.userId !== userId) throw new Problem('not_found', `User ${userId} has no session ${id}`);
    return this.read(id, query, key, request);
  }

  async refresh(id: string, key: Principal): Promise<SessionView> {
    return this.view(await this.refreshes.refresh(id), key);
  }

  private async find(id: string, { maxAge }: SessionQuery): Promise<SessionRow> {
    if (maxAge === undefined) return this.answers.getSession(id);
    return this.refreshes.getFresh(id, maxAge * 1_000);
  }

  /**
   * Waits until the state differs from `from`. Default: the state just read. If the read for `maxAge` found that the session has left
   * `from`, returns at once.
   */
  private async waitForChange(
    session: SessionRow,
    { wait = 0, from = session.state }: SessionQuery,
    key: Principal,
    request: HoldableRequest,
  ): Promise<SessionRow> {
    if (wait === 0 || session.closedAt !== null || session.state !== from) return session;
    await this.held.hold('wait', request, actorOf(key), (gone) =>
      this.watch.leaves(session.id, from, wait * 1_000, gone),
    );
    await this.authentication.requireUnrevoked(key);
    return this.answers.getSession(session.id);
  }

  private view(session: SessionRow, key: Principal): SessionView {
    return sessionView(
      session,
      hasScope(key, 'onboarding:write') ? this.answers.findStartUrl(session) : null,
    );
  }
}
