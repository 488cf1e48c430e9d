import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AuthorisedRemote } from '../../../src/auth/authorised-remote.service.js';
import { WebhookSender } from '../../../src/events/webhooks/send/sender.service.js';
import { PollsStore } from '../../../src/onboarding/poll/polls.store.js';
import { SessionReader } from '../../../src/onboarding/remote/session-reader.service.js';
import { MOVE_SESSIONS } from '../../../src/onboarding/store/sessions.sql.js';
import { KEEP_STARTED_SESSION } from '../../../src/onboarding/start/started-sessions.sql.js';
import { Database, type Statement } from '../../../src/platform/database/database.js';
import { CONFIRM_OUTCOME, CONFIRM_OUTCOMES } from '../../../src/users/registration/registrations.sql.js';

/** Where a process is killed while it reads a session, in the order in which it comes there. */
export const READ_STEPS = [
  'claimed',
  'answer received',
  'before state',
  'before commit',
  'after commit',
] as const;
/** Where a process is killed around a POST, whose intent is committed before and whose answer is saved after. */
type PostStep = 'before POST' | 'after POST before save';

/** Where a process is killed once what a POST has brought, a user or a session, is committed with its event in one statement. */
export const SAVED_STEP = 'after save';

/** Where a process is killed once a receiver has taken a webhook, before that is written down. */
export const WEBHOOK_STEP = 'after webhook 2xx';

export type CrashStep = (typeof READ_STEPS)[number] | PostStep | typeof SAVED_STEP | typeof WEBHOOK_STEP;

/** Kills this process as soon as `count` calls or sessions stand at the step; none of them goes on from there. */
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
  watchPosts(app.get(AuthorisedRemote), reach);
  watchSaves(app.get(Database), reach);
  watchWebhooks(app.get(WebhookSender), reach);
}

type Reach = (step: CrashStep, more?: number) => Promise<void>;

function watchClaims(polls: PollsStore, reach: Reach): void {
  const claimDue = polls.claimDue.bind(polls);
  const claimOne = polls.claimOne.bind(polls);
  polls.claimDue = async (limit) => {
    const batch = await claimDue(limit);
    if (batch !== null) await reach('claimed', batch.polls.length);
    return batch;
  };
  polls.claimOne = async (sessionId) => {
    const batch = await claimOne(sessionId);
    if (batch !== null) await reach('claimed');
    return batch;
  };
}

function watchReads(reader: SessionReader, reach: Reach): void {
  const read = reader.read.bind(reader);
  reader.read = async (session, priority, signal) => {
    const answer = await read(session, priority, signal);
    await reach('answer received');
    return answer;
  };
}

/** Steps of a transaction that moves sessions. */
function watchMoves(database: Database, reach: Reach): void {
  const transaction = database.transaction.bind(database);
  database.transaction = async (work) => {
    const { held, letGo } = hold();
    let moved = 0;
    const done = await transaction(async (tx) => {
      moved = 0;
      tx.afterCommit(() => held);
      const result = await work({
        ...tx,
        query: async <Row>(statement: string | Statement, values: readonly unknown[] = []) => {
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
    letGo();
    return done;
  };
}

/** Nothing follows a commit before the step after it has been reached. */
function hold(): { readonly held: Promise<void>; readonly letGo: () => void } {
  let letGo = () => {};
  const held = new Promise<void>((resolve) => (letGo = resolve));
  return { held, letGo };
}

/** Requests for a token are sent elsewhere. */
function watchPosts(remote: AuthorisedRemote, reach: Reach): void {
  const send = remote.send.bind(remote);
  remote.send = async (request, audience, userId) => {
    if (request.method !== 'POST') return send(request, audience, userId);
    await reach('before POST');
    const sent = await send(request, audience, userId);
    await reach('after POST before save');
    return sent;
  };
}

function watchSaves(database: Database, reach: Reach): void {
  const commit = database.commit.bind(database);
  database.commit = async (statement, values, afterCommit) => {
    const { held, letGo } = hold();
    const rows = await commit<never>(statement, values, async (sql) => {
      await held;
      await afterCommit(sql);
    });
    if (isSave(statement)) await reach(SAVED_STEP);
    letGo();
    return rows;
  };
}

/** Of users or of a session; what is to be announced is its last parameter. */
export const isSave = (statement: Statement): boolean =>
  [CONFIRM_OUTCOME, CONFIRM_OUTCOMES, KEEP_STARTED_SESSION].includes(statement);

function watchWebhooks(sender: WebhookSender, reach: Reach): void {
  const sendOver = sender.sendOver.bind(sender);
  sender.sendOver = async (...message) => {
    const outcome = await sendOver(...message);
    if (outcome.kind === 'delivered') await reach(WEBHOOK_STEP);
    return outcome;
  };
}
