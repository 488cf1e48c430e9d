import { causes, remedy } from '../../stalls/cause.rules.js';

const ASK = 'Ask the provider what has become of it.';
const refresh = remedy('refreshSession', 'Read it now');
export const startAnother = remedy('startSession', 'Start another session', {
  body: ({ brand }) => ({ ...(brand && { brand }), reuse: false }),
});

/** Why a session does not continue by itself. */
export const SESSION_CAUSES = causes({
  lost: {
    waitsFor: 'tenant',
    urgency: 'now',
    title: 'The remote service no longer knows the session, or refuses it.',
    text: ({ isRefused }) =>
      isRefused === true
        ? 'The remote service refuses the session for good (401 or 403).'
        : 'The remote service no longer knows the session (404 or 410).',
    before: ASK,
    remedies: [startAnother],
  },
  unwatched: {
    waitsFor: 'us',
    urgency: 'now',
    title: 'The session is open, but no worker reads it: it has no row in session_polls.',
    before: 'Find out who has deleted the row.',
    remedies: [],
  },
  refused: {
    waitsFor: 'tenant',
    urgency: 'soon',
    title: 'The remote service does not find or refuses the session, while others are read.',
    text: ({ reads }) =>
      `The last ${String(reads)} reads found the session on no path, or were refused (401, 403, 404 or 410), while others are read.`,
    before: ASK,
    remedies: [refresh, startAnother],
  },
  too_many_inverters: {
    waitsFor: 'tenant',
    urgency: 'soon',
    title: 'The remote service lists more inverters than a session can have.',
    before: 'Ask the provider why it lists so many inverters.',
    remedies: [refresh],
  },
  unrecognised: {
    waitsFor: 'tenant',
    urgency: 'soon',
    title: 'The interface does not describe the flags of the session.',
    text: ({ finished, active, expired }) =>
      `The interface does not describe these flags: finished=${String(finished)}, active=${String(active)}, expired=${expired === null ? 'absent' : String(expired)}.`,
    before: 'Ask the provider what the flags mean.',
    remedies: [refresh],
  },
  remote_unreachable: {
    waitsFor: 'remote_service',
    urgency: 'soon',
    title: 'The reads of the session fail, while others are read.',
    text: ({ failures }) =>
      `The last ${String(failures)} reads of the session failed, while others are read.`,
    before: 'Ask the provider, if it lasts.',
    remedies: [refresh],
  },
  flapping: {
    waitsFor: 'tenant',
    urgency: 'soon',
    title: 'The responses of the remote service change too often; not every change is recorded.',
    before: ASK,
    remedies: [refresh, startAnother],
  },
  expiry_ignored: {
    waitsFor: 'tenant',
    urgency: 'soon',
    title: 'The session is past its date, and the remote service has not called it expired.',
    text: ({ expiresAt }) =>
      `The session was to expire at ${String(expiresAt)}, and the remote service has not called it expired.`,
    before: ASK,
    remedies: [refresh, startAnother],
  },
  all_inverters_missing: {
    waitsFor: 'tenant',
    urgency: 'soon',
    title: 'The session is online, and all its inverters are missing.',
    before: 'Ask the customer or the provider whether the inverters were removed.',
    remedies: [refresh],
  },
  some_inverters_missing: {
    waitsFor: 'tenant',
    urgency: 'later',
    title: 'The session is online, and some of its inverters are missing.',
    text: ({ missing, listed }) =>
      `The session is online, and ${String(missing)} of its ${Number(missing) + Number(listed)} inverters are missing.`,
    before: 'Ask the customer or the provider whether an inverter was removed.',
    remedies: [refresh],
  },
  completed_not_online: {
    waitsFor: 'installation',
    urgency: 'soon',
    title: 'The owner has probably finished the web flow, and the installation is later than usual.',
    before: 'Ask the installer or the provider.',
    remedies: [refresh],
  },
  expiring_soon: {
    waitsFor: 'owner',
    urgency: 'now',
    title: 'The session soon expires, and the owner has not finished the web flow.',
    text: ({ expiresAt }) =>
      `The session expires at ${String(expiresAt)}, and the owner has not finished the web flow.`,
    before: 'Ask the owner to finish.',
    remedies: [],
  },
  started_not_completed: {
    waitsFor: 'owner',
    urgency: 'later',
    title: 'The owner has started, and has not finished the web flow.',
    before: 'Ask the owner to follow the link again, and to finish.',
    remedies: [],
  },
});
