import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { PollsStore } from '../../../src/onboarding/poll/polls.store.js';
import { SessionReader } from '../../../src/onboarding/remote/session-reader.service.js';
import { MOVE_SESSIONS } from '../../../src/onboarding/store/sessions.sql.js';
import { LOCK_START } from '../../../src/onboarding/start/starts.sql.js';
import { Database, type Statement } from '../../../src/platform/database/database.js';
import { CONFIRM_USER } from '../../../src/users/registration/confirm-user.store.js';

/** Steps of reading a session, in order, at which a process can be killed. */
export const READ_STEPS = [
  'claimed',
  'response received',
  'before state',
  'before commit',
  'after commit',
] as const;
/** The step after the commit of a new user or session and its event. */
export const SAVED_STEP = 'after save';

export type CrashStep = (typeof READ_STEPS)[number] | typeof SAVED_STEP;

/** Blocks each call or session at the step, and kills this process once `count` of them have reached the step. */
export function crashAt(app: NestFastifyApplication, crashStep: CrashStep, count: number): void {
  let standing = 0;
  const reach = async (step: CrashStep, more = 1): Promise<void> => {
    if (step !== crashStep) return;
    standing += more;
    if (standing >= count) process.kill(process.pid, 'SIGKILL');
    await new Promise<never>(() => {});
  };
  watchClaims(app.get(PollsStore), reach);
  watchReads(app.get(SessionReader), reach);
  watchMoves(app.get(Database), reach);
}

type Reach = (step: CrashStep, more?: number) => Promise<void>;

function watchClaims(polls: PollsStore, reach: Reach): void {
  const claimOne = polls.claimOne.bind(polls);
  polls.claimOne = async (...which) => {
    const poll = await claimOne(...which);
    if (poll !== undefined) await reach('claimed');
    return poll;
  };
}

function watchReads(reader: SessionReader, reach: Reach): void {
  const read = reader.read.bind(reader);
  reader.read = async (session, priority, signal) => {
    const response = await read(session, priority, signal);
    await reach('response received');
    return response;
  };
}

/** Calls `reach` at the steps of a transaction that changes sessions, and after a transaction that saves a start or a user. */
function watchMoves(database: Database, reach: Reach): void {
  const transaction = database.transaction.bind(database);
  database.transaction = async (work) => {
    const { held, letGo } = hold();
    let moved = 0;
    let saves = false;
    const done = await transaction(async (tx) => {
      moved = 0;
      saves = false;
      tx.afterCommit(() => held);
      const result = await work({
        ...tx,
        query: async <Row>(statement: string | Statement, values: readonly unknown[] = []) => {
          saves ||= statement === LOCK_START || statement === CONFIRM_USER;
          if (statement === MOVE_SESSIONS) {
            moved = (JSON.parse(String(values[0])) as unknown[]).length;
            await reach('before state', moved);
          }
          return tx.query<Row>(statement, values);
        },
      });
      if (moved > 0) await reach('before commit', moved);
      return result;
    });
    if (moved > 0) await reach('after commit', moved);
    if (saves) await reach(SAVED_STEP);
    letGo();
    return done;
  };
}

/** Returns a promise and its resolver. The promise delays the work after a commit until `letGo` is called. */
function hold(): { readonly held: Promise<void>; readonly letGo: () => void } {
  let letGo = () => {};
  const held = new Promise<void>((resolve) => (letGo = resolve));
  return { held, letGo };
}
