import { LIVE } from '../invitations/invitation.rules.js';
import { ago, counted, decision, lasting, mostUrgent, type Decision } from './decision.rules.js';
import type { KnownInvitation, KnownSession, Snapshot, Step } from './snapshot.rules.js';

/** Returns what is online and missing at a grid location, and who must act next. The newest invitation says what is expected. */
export function decideCase(snapshot: Snapshot, now: Date) {
  const { brands = [], expected } = snapshot.invitation ?? {};
  const wanted = expected?.inverters ?? null;
  const online = snapshot.sessions.filter(({ state }) => state === 'online');
  const onlineBrands = distinct(online.flatMap(({ brand }) => brand ?? []));
  const listed = online.flatMap(({ inverters }) => inverters);
  const present = distinct(listed.filter(({ missingSince }) => missingSince === null).map(({ id }) => id));
  const gone = distinct(listed.map(({ id }) => id)).length - present.length;
  const waiting = stepsOf(snapshot, brands).filter(({ session }) => session?.state !== 'online');
  return {
    expected: { brands, inverters: wanted },
    online: { brands: onlineBrands, inverters: present.length },
    missing: {
      brands: brands.filter((brand) => !onlineBrands.includes(brand)),
      inverters: wanted && Math.max(0, wanted - present.length),
    },
    ...(mostUrgent(waiting.map((step) => decideStep(step, now))) ??
      decideOnline(snapshot.gridLocationId, online, present.length, gone, wanted)),
  };
}

/**
 * Returns a step for each expected brand. If no brand is expected, returns one for each brand that is online or open, or else one step for
 * all brands.
 */
function stepsOf({ sessions, starts, ...location }: Snapshot, expected: readonly string[]): Step[] {
  const current = sessions.filter(({ supersededAt, state }) => supersededAt === null || state === 'online');
  const live = current.filter((session) => session.state === 'online' || isOpen(session));
  const brands = expected.length > 0 ? expected : distinct(live.map(({ brand }) => brand));
  const stepOf = (brand: string | null, isOf: (each: { readonly brand: string | null }) => boolean) => ({
    ...location,
    brand,
    session: live.find((session) => isOf(session) && session.state === 'online') ?? current.find(isOf),
    start: starts.find(isOf),
  });
  return brands.length > 0
    ? brands.map((brand) => stepOf(brand, (each) => each.brand === brand))
    : [stepOf(null, () => true)];
}

const isOpen = ({ state, closedAt }: KnownSession): boolean =>
  closedAt === null && (state === 'awaiting_owner' || state === 'awaiting_installation');

/** Decides who must act next for a brand that is not online. */
function decideStep(step: Step, now: Date): Decision {
  const { gridLocationId, brand, session, start, invitation } = step;
  const of = ofBrand(brand);
  const link = invitation !== undefined && LIVE.includes(invitation.state) ? invitation : undefined;
  if (start?.status === 'sending')
    return decision(
      'remote_service',
      `The start${of} is being sent to the remote service.`,
      'Look again in a minute: the start succeeds or fails by itself.',
    );
  const found = session && ago(session.stateChangedAt, now);
  if (session?.state === 'lost')
    return decision(
      'tenant',
      `The remote service no longer knows the session${of}, as we found ${found}.`,
      `Ask the provider, then start another session: ${startAnother(gridLocationId, brand)}.`,
    );
  if (session?.state === 'unrecognised')
    return decision(
      'tenant',
      `The interface does not describe the flags of the session${of}, which we found ${found}.`,
      'Ask the provider what the flags of the session mean.',
    );
  if (session === undefined || !isOpen(session)) return decideUnstarted(step, link, now);
  if (session.stalled?.cause === 'remote_unreachable')
    return decision(
      'remote_service',
      `The session${of} was last read ${ago(session.checkedAt, now)}, and all reads since have failed.`,
      'Look at GET /api/v1/status: once the reads succeed, the case says more.',
    );
  const isInTime = session.expiresAt > now;
  if (session.state === 'awaiting_installation')
    return decision(
      'installation',
      `The owner has probably finished the web flow${of}, as we found ${found}, and nothing is online yet.`,
      session.stalled?.cause === 'completed_not_online'
        ? 'Ask the installer or the provider: the installation is later than usual.'
        : `Wait: the inverters come online by themselves${usually(step)}.`,
    );
  if (!isInTime && link === undefined) return decideUnstarted(step, link, now);
  return decision(
    'owner',
    `A session${of} was started ${ago(session.createdAt, now)}, and the owner has not finished the web flow.`,
    link === undefined
      ? `Ask the owner to finish by the startUrl, before ${session.expiresAt.toISOString()}.`
      : 'Ask the owner to follow the link of the invitation again, and to finish.',
  );
}

/** Decides who must act next for a brand without a session that may still come online. `link`: the live invitation. */
function decideUnstarted(
  { gridLocationId, brand, session, start, invitation, wishDueAt }: Step,
  link: KnownInvitation | undefined,
  now: Date,
): Decision {
  const failed = start?.status === 'failed' ? start : undefined;
  const because = failed?.error ? `: ${failed.error}.` : '.';
  if (link !== undefined && wishDueAt !== null)
    return decision(
      'remote_service',
      `The owner has clicked, and the remote service has not taken the start yet${because}`,
      'Wait: the start is repeated by itself, and the page of the owner then goes on.',
    );
  if (failed !== undefined && (link === undefined || failed.createdAt > link.createdAt))
    return decision(
      'tenant',
      `The start${ofBrand(brand)} failed ${ago(failed.createdAt, now)}${because}`,
      `Remove the cause, then start again: POST /api/v1/onboarding/pv/${gridLocationId}.`,
    );
  const over = session && `The session${ofBrand(brand)} is over without an inverter online`;
  if (link === undefined)
    return decision(
      'invitation',
      `${over ?? 'Nothing has been started'}, and the owner has no ${invitation === undefined ? '' : 'valid '}invitation.`,
      `Invite the owner${invitation === undefined ? '' : ' again'}: POST /api/v1/invitations with the gridLocationId ${gridLocationId}.`,
    );
  const unopened = `The owner was invited ${ago(link.createdAt, now)}, and has not opened the page.`;
  return decision(
    'owner',
    over !== undefined
      ? `${over}.`
      : link.openedAt === null
        ? unopened
        : `The owner opened the page ${ago(link.openedAt, now)}, and has not started${brand === null ? '' : ` ${brand}`}.`,
    over === undefined ? remindBy(link) : 'Ask the owner to follow the link of the invitation again.',
  );
}

/** Returns the next step if an owner has started nothing. */
function remindBy({ stalled, expiresAt }: KnownInvitation): string {
  switch (stalled?.cause) {
    case 'never_opened':
      return 'Ask the owner whether the link has arrived, and send it again.';
    case 'expiring_soon':
      return `Ask the owner to follow the link of the invitation before ${expiresAt.toISOString()}.`;
    case 'opened_not_started':
      return 'Ask the owner what is unclear about the page, and to follow its link again.';
    case 'remote_unreachable':
      return 'Ask the owner to follow the link of the invitation, and to try again: the last start failed.';
    default:
      return 'Ask the owner to follow the link of the invitation.';
  }
}

/** Decides who must act next for a location whose brands are all online. `gone`: how many inverters the remote service no longer lists. */
function decideOnline(
  gridLocationId: string,
  online: readonly KnownSession[],
  present: number,
  gone: number,
  expected: number | null,
): Decision {
  const wanted = expected ?? present + gone;
  if (present >= wanted)
    return decision(
      'nobody',
      `All is online, with ${counted(present, 'inverter')}.`,
      'Nothing is left to do.',
    );
  const why = `${present} of ${counted(wanted, 'inverter')} online: ${wanted - present} missing`;
  if (gone > 0)
    return decision(
      'tenant',
      `${why}, and the remote service has ceased to list ${counted(gone, 'inverter')}.`,
      'Ask the owner or the provider whether an inverter was removed.',
    );
  return online.some(({ closedAt }) => closedAt === null)
    ? decision(
        'installation',
        `${why}.`,
        'Wait: an online session is still read, and further inverters may follow.',
      )
    : decision(
        'tenant',
        `${why}, and the sessions are closed.`,
        `Ask the owner about the missing inverters, then start another session: ${startAnother(gridLocationId, online[0]!.brand)}.`,
      );
}

function usually({ usualWait, session }: Step): string {
  const wait = usualWait(session?.brand ?? null);
  return wait === undefined ? '' : `, usually within ${lasting(wait.p95Seconds * 1_000, Math.ceil)}`;
}

const ofBrand = (brand: string | null) => (brand === null ? '' : ` of ${brand}`);

const startAnother = (gridLocationId: string, brand: string | null) =>
  `POST /api/v1/onboarding/pv/${gridLocationId} with the body ${JSON.stringify({ brand: brand ?? undefined, reuse: false })}`;

const distinct = <T>(values: readonly T[]): T[] => [...new Set(values)];
