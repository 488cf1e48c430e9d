import type { Database } from '../platform/database/database.js';
import { UnreadableResponse } from '../remote/wire/read-response.js';
import { readObservation } from '../onboarding/remote/session.client.js';
import { classify, classifyGone, next, withKnown } from '../onboarding/rules/machine.rules.js';
import type { Observation, SessionState, Classification } from '../onboarding/rules/machine.rules.js';
import type { RederivedChange } from './rederived.store.js';

/** A recorded session with its responses, the oldest first. A response that made the session lost is given as its HTTP status. */
export interface SessionHistory {
  readonly id: string;
  readonly state: SessionState;
  readonly startedUpdatedAt: Date;
  readonly responses: readonly (Observation | number)[];
}

const PAGE = 500;
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

/** Replays recorded responses through the current rules. Yields the resulting changes of state, one page of sessions at a time. */
export async function* planRederivations(
  { prisma }: Database,
  sessionId: string | null,
): AsyncGenerator<readonly RederivedChange[]> {
  for (let after = BEFORE_ALL; ;) {
    const sessions = await prisma.onboardingSession.findMany({
      where: { id: { gt: after, ...(sessionId !== null && { equals: sessionId }) } },
      include: {
        observations: { select: { body: true, httpStatus: true, observedAt: true }, orderBy: { id: 'asc' } },
      },
      orderBy: { id: 'asc' },
      take: PAGE,
    });
    const last = sessions.at(-1);
    if (last === undefined) return;
    after = last.id;
    yield sessions
      .filter(({ closedAt, observations: [first] }) => !isPartial(closedAt, first))
      .map(({ state, observations, ...session }) => {
        const responses = observations.flatMap(({ body, httpStatus }) => replayed(body, httpStatus));
        return planRederivation({ ...session, state: state as SessionState, responses });
      })
      .filter((change) => change !== null);
  }
}

/** Returns whether retention has deleted the history of a closed session before its first recorded response. */
const isPartial = (closedAt: Date | null, first: { readonly observedAt: Date } | undefined): boolean =>
  closedAt !== null && first !== undefined && first.observedAt > closedAt;

/** Returns the change if the state that the current rules derive from the history differs from the recorded state, else null. */
export function planRederivation(session: SessionHistory): RederivedChange | null {
  const { id, state: from, startedUpdatedAt, responses } = session;
  let classification = null as Classification | null;
  let expired = null as boolean | null;
  for (const response of responses) {
    if (typeof response !== 'number') expired = response.expired ?? expired;
    const classified: Classification =
      typeof response === 'number'
        ? classifyGone(response)
        : classify(withKnown(response, expired), startedUpdatedAt);
    classification = next(classification?.state ?? null, classified) ?? classification;
  }
  return classification === null || classification.state === from ? null : { id, from, classification };
}

/** Returns a list with the response. The list is empty if this release can no longer read the body. */
function replayed(body: unknown, status: number): SessionHistory['responses'] {
  if (body === null) return [status];
  try {
    return [readObservation(body)];
  } catch (error) {
    if (error instanceof UnreadableResponse) return [];
    throw error;
  }
}
