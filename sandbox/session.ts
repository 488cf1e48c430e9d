import { randomUUID } from 'node:crypto';

/** One onboarding session in the sandbox. Instants are epoch milliseconds. */
export interface Session {
  readonly sessionId: string;
  readonly userId: string;
  readonly gridLocationId: string;
  /** The last path segment of `startUrl`, and the owner's only credential. */
  readonly linkToken: string;
  readonly createdAt: number;
  updatedAt: number;
  readonly expiresAt: number;
  finished: boolean;
  active: boolean;
  expired: boolean;
  inverters: string[];
  /** The id of the brand that the owner chose in the web flow. */
  brand: string | null;
  signedIn: boolean;
  completedAt: number | null;
  /** If true, reads return 404. */
  deleted: boolean;
  scenario: string;
  /** Future changes, earliest first. `settle` applies those that are due. */
  planned: PlannedChange[];
  /** Fields of the read response to replace or to omit. */
  override: Override | null;
}

interface Override {
  readonly set: Readonly<Record<string, unknown>>;
  readonly absent: readonly string[];
}

export type Change =
  | { readonly do: 'complete' }
  | { readonly do: 'online'; readonly inverters: number | readonly string[]; readonly finished: boolean }
  | { readonly do: 'remove_inverter'; readonly inverterId?: string }
  | { readonly do: 'expire' }
  | { readonly do: 'override'; readonly override: Override | null }
  | { readonly do: 'delete' };

export interface PlannedChange {
  readonly dueAt: number;
  readonly change: Change;
}

/** Raises updatedAt by at least one second: responses show whole seconds, and every change must be visible. */
const touch = (session: Session, at: number): void => {
  session.updatedAt = Math.max(Math.floor(at / 1000) * 1000, session.updatedAt + 1000);
};

export const applyChange = (session: Session, change: Change, at: number): void => {
  switch (change.do) {
    case 'complete':
      if (session.completedAt !== null) return;
      session.completedAt = at;
      break;
    case 'online': {
      const { inverters } = change;
      const ids =
        typeof inverters === 'number' ? Array.from({ length: inverters }, () => randomUUID()) : inverters;
      session.inverters = [...new Set([...session.inverters, ...ids])];
      if (change.finished) {
        session.finished = true;
        session.active = false;
      }
      break;
    }
    case 'remove_inverter': {
      const gone = change.inverterId ?? session.inverters[0];
      session.inverters = session.inverters.filter((id) => id !== gone);
      break;
    }
    case 'expire':
      if (session.expired) return;
      session.expired = true;
      session.active = false;
      break;
    case 'override':
      session.override = change.override;
      break;
    case 'delete':
      session.deleted = true;
      break;
  }
  touch(session, at);
};

/**
 * Applies each due change as of its due time, so that the frequency of reads does not matter. Expires the session at `expiresAt`, although
 * the interface does not say what happens then. Returns whether anything changed.
 */
export const settle = (session: Session, now: number): boolean => {
  let changed = false;
  for (let next = session.planned[0]; next !== undefined && next.dueAt <= now; next = session.planned[0]) {
    expireWhenOver(session, next.dueAt);
    session.planned.shift();
    applyChange(session, next.change, next.dueAt);
    changed = true;
  }
  return expireWhenOver(session, now) || changed;
};

const expireWhenOver = (session: Session, at: number): boolean => {
  if (session.finished || session.expired || at < session.expiresAt) return false;
  applyChange(session, { do: 'expire' }, session.expiresAt);
  return true;
};

/** Completes the owner's web flow. Plans that the session comes online after `afterMs`, or plans nothing if that is null. */
export const completeFlow = (
  session: Session,
  at: number,
  online: { readonly afterMs: number | null; readonly inverters: number },
): void => {
  applyChange(session, { do: 'complete' }, at);
  session.planned =
    online.afterMs === null
      ? []
      : [
          {
            dueAt: at + online.afterMs,
            change: { do: 'online', inverters: online.inverters, finished: true },
          },
        ];
};

export const isFlowOpen = (session: Session): boolean =>
  !session.deleted && !session.expired && !session.finished && session.completedAt === null;
