const text = (description: string) => ({ type: 'string', description }) as const;
const uuid = (description: string) => ({ type: 'string', format: 'uuid', description }) as const;
const instant = (description: string) => ({ type: 'string', format: 'date-time', description }) as const;
const textOrNull = (description: string) => ({ type: ['string', 'null'], description }) as const;
const count = (description: string) => ({ type: 'integer', minimum: 0, description }) as const;
const number = (description: string) => ({ type: 'number', minimum: 0, description }) as const;
const numberOrNull = (description: string) => ({ type: ['number', 'null'], description }) as const;
const oneOf = <const V extends string>(description: string, ...values: readonly V[]) =>
  ({ type: 'string', enum: values, description }) as const;
const uuids = (description: string) => ({ type: 'array', items: uuid('One id'), description }) as const;
const metadata = (when: string) =>
  ({ type: 'object', description: `As passed ${when}; empty once the user has been erased` }) as const;
/** Returns the schema of an object in which all of these properties are required. */
export const object = <const P extends object>(properties: P) =>
  ({ type: 'object', properties, required: Object.keys(properties) }) as const;

const TENANT_REFERENCE = textOrNull('Your reference of the user; null once the user has been erased');
export const SESSION_STATES = [
  'awaiting_owner',
  'awaiting_installation',
  'online',
  'expired',
  'lost',
  'unrecognised',
] as const;
/** What can be stalled. */
export const STALL_KINDS = [
  'registration',
  'start',
  'session',
  'invitation',
  'inverter',
  'endpoint',
] as const;
/** The classes of operations of the remote service. */
export const OPERATION_CLASSES = [
  'token',
  'register_user',
  'start_session',
  'read_session',
  'pass_through',
] as const;
/** Who has to act next. `us`: who operates the service. */
export const WAITS_FOR = ['owner', 'installation', 'remote_service', 'tenant', 'us', 'nobody'] as const;

const session = {
  sessionId: uuid('Id of the session, here and at the remote service'),
  userId: uuid('Id of the user, here and at the remote service'),
  gridLocationId: uuid('Id of the grid location, here and at the remote service'),
  tenantReference: TENANT_REFERENCE,
  brand: textOrNull('As passed at the start; null if none was passed'),
  metadata: metadata('at the start'),
  state: oneOf('The state of the session', ...SESSION_STATES),
  previousState: {
    type: ['string', 'null'],
    enum: [...SESSION_STATES, null],
    description: 'The state before; null at the start',
  },
  basis: oneOf('`observed`: the remote service said so; `inferred`: we conclude it', 'observed', 'inferred'),
  rule: text('The name of the rule that determined the state'),
  inverters: {
    type: 'array',
    items: text('The id of an inverter'),
    description:
      'The ids of the first 100 inverters currently listed; `GET /api/v1/onboarding/pv/{sessionId}` returns all of them. Empty once the user has been erased',
  },
  invertersTotal: count('How many inverters are currently listed'),
  observedAt: instant('When the remote service was read'),
} as const;
// Events about one inverter omit the list. Otherwise, n inverters would cause n events whose total size grows with n².
const { inverters: _, ...sessionWithoutList } = session;
const OPERATION = oneOf('The class of operations; the same as the subject', ...OPERATION_CLASSES);

/** Returns the schema of an event. `when` completes the sentence `When …`. A field of `data` without a value is null. */
const event = <const P extends Readonly<Record<string, { readonly description: string }>>>(
  when: string,
  subject: string,
  data: P,
) => ({ when, subject, data: object(data) }) as const;
const aboutSession = (when: string) => event(when, 'session', session);
const aboutStall = (when: string) =>
  event(when, 'stalled object', {
    kind: oneOf('What is stalled', ...STALL_KINDS),
    id: uuid('Its id; the same as the subject'),
    cause: text('Why, as in the catalogue of causes'),
    waitsFor: oneOf('Who has to act next', ...WAITS_FOR),
    since: instant('When the trouble began'),
    evidence: {
      type: 'object',
      description: 'What was found, and the threshold, by cause; without the words of the remote service',
    },
  });
const aboutInverter = (when: string) =>
  event(when, 'session', {
    ...sessionWithoutList,
    inverterId: textOrNull('Id of the inverter; null once the user has been erased'),
  });
const aboutRegistration = (when: string) =>
  event(when, 'registration', {
    registrationId: uuid('Id of the registration'),
    tenantReference: TENANT_REFERENCE,
    metadata: metadata('in the request'),
    reason: text('Why, without secrets and without the words of the remote service'),
  });
const invitation = {
  invitationId: uuid('Id of the invitation'),
  gridLocationId: session.gridLocationId,
  userId: session.userId,
  tenantReference: TENANT_REFERENCE,
  brands: { type: 'array', items: text('A brand'), description: 'The brands to connect; empty if any' },
  locale: textOrNull('The language of the page; null if it is that of the browser'),
  metadata: metadata('at the invitation'),
  campaignId: textOrNull('Id of the campaign; null if there is none'),
  expiresAt: instant('After this the owner can no longer begin'),
} as const;
const aboutInvitation = (when: string) => event(when, 'invitation', invitation);
const aboutReminder = (when: string) =>
  event(when, 'invitation', {
    ...invitation,
    attempt: count('The number of this reminder, from 1'),
    attempts: count('The most reminders of one invitation'),
    cause: oneOf(
      'Where the owner stands; `expiring_soon` within a day of `expiresAt`; `recovered` once a start is taken for which the owner had to wait',
      'recovered',
      'never_opened',
      'opened_not_started',
      'started_not_completed',
      'expiring_soon',
    ),
  });
const aboutRemoteTrouble = (when: string) =>
  event(when, 'class of remote operations', {
    operation: OPERATION,
    reason: text('What went wrong, without secrets'),
    since: instant('When the trouble began'),
  });

const budget = {
  operation: OPERATION,
  stretch: number('By how much all intervals between reads are longer than planned'),
  wantedPerSecond: number('Reads per second that all watched sessions would take without a limit'),
  allowedPerSecond: numberOrNull(
    'Reads per second that can be planned; null if nothing is known to limit them',
  ),
  since: instant('Since when the stretch has been above 2'),
} as const;

// The schemas of all events. Types, events.schema.json and asyncapi.json are derived from them. No field may contain an EAN, name, address,
// startUrl or secret. `eraseEvents` replaces each field that identifies a person, so its schema must allow the replacement.
export const EVENT_SCHEMAS = {
  'user.registered': event('the remote service confirmed a user', 'user', {
    userId: session.userId,
    registrationId: uuid('Id of the registration, which is now `registered`'),
    tenantReference: TENANT_REFERENCE,
    metadata: metadata('in the request'),
    gridLocationIds: uuids('Ids of its grid locations, here and at the remote service'),
  }),
  'user.registration_pending': aboutRegistration(
    'a registration waits to be sent: the remote service could not take it now, or a person decided to send it again',
  ),
  'user.registration_rejected': aboutRegistration(
    'the remote service refused a registration; it had no effect there',
  ),
  'user.registration_uncertain': aboutRegistration(
    'nobody knows whether a registration took effect: its response was lost or unclear, or a backup was restored; a person has to decide',
  ),
  'user.registration_discarded': aboutRegistration('a person gave up a registration'),
  'user.erased': event('the personal data of a user has been erased', 'user', {
    erasureId: uuid('Id of the erasure'),
    userId: {
      type: ['string', 'null'],
      format: 'uuid',
      description: 'Null if there were only registrations that had not become a user',
    },
    registrationIds: uuids('The registrations that were deleted'),
    erasedAt: instant('When the data was erased'),
    erased: {
      description: 'How many rows of each kind were emptied or deleted',
      ...object({
        gridLocations: count('Grid locations'),
        registrations: count('Registrations'),
        sessions: count('Sessions'),
        observations: count('Stored responses of the remote service'),
        inverters: count('Inverters'),
        consents: count('Consents of the owner'),
        events: count('Events'),
      }),
    },
  }),
  'session.started': aboutSession('a session exists, and its `startUrl` can be sent to the owner'),
  'session.start_failed': event(
    'a start has failed, so there is no session: the remote service rejected it, could not take it now or gave no usable response, or the process died',
    'grid location',
    {
      startId: uuid('Id of the start, as in `GET /api/v1/onboarding/starts`'),
      userId: session.userId,
      gridLocationId: session.gridLocationId,
      tenantReference: TENANT_REFERENCE,
      brand: session.brand,
      attempts: count('How often the start was sent, or was about to be sent'),
      orphans: count('How many sessions the remote service may have started whose id nobody knows'),
      reason: text('Why, without secrets and without the words of the remote service'),
      failedAt: instant('When the start failed'),
    },
  ),
  'session.awaiting_owner': aboutSession(
    'the session is again as it was at its start, after another state. The start itself is `session.started`',
  ),
  'session.awaiting_installation': aboutSession(
    'the owner has probably completed the web flow. Inferred: the remote service has no flag for it',
  ),
  'session.online': aboutSession('the remote service reports the session as finished and lists an inverter'),
  'session.expired': aboutSession(
    'the remote service reports the session as expired, and it is not online. It may still come online later',
  ),
  'session.lost': aboutSession('the remote service repeatedly reported that there is no such session'),
  'session.unrecognised': aboutSession(
    'the interface does not describe this combination of flags. The session is still watched, and nothing is guessed',
  ),
  'session.closed': event('the session is no longer watched', 'session', {
    ...session,
    reason: oneOf('Why the session was closed', 'settled', 'late_window_over', 'lost', 'erased'),
  }),
  'session.reopened': aboutSession('a closed session is watched again, because a refresh showed activity'),
  'session.flapping': aboutSession(
    'the session changes too often to record and announce every change. Announced once, until it has been calm for an hour',
  ),
  'stall.raised': aboutStall(
    'something does not continue by itself, or the cause of this has changed. Announced once per cause',
  ),
  'stall.cleared': aboutStall('what was stalled continues, has ended, or was erased'),
  'invitation.created': aboutInvitation('an owner is invited'),
  'invitation.opened': aboutInvitation('a person has opened the page of an invitation for the first time'),
  'invitation.expired': aboutInvitation('the date of an invitation has passed before its owner was done'),
  'invitation.revoked': aboutInvitation('an invitation was revoked'),
  'invitation.declined': event('the owner of an invitation has declined it', 'invitation', {
    ...invitation,
    reason: {
      type: ['string', 'null'],
      enum: ['not_interested', 'not_mine', 'login_elsewhere', null],
      description: 'Why; null if not given',
    },
  }),
  'invitation.renewal_requested': event(
    'the person with a link that no longer works has asked for a new one. Announced once a day',
    'invitation',
    {
      ...invitation,
      newInvitationId: textOrNull(
        'Id of the invitation that `INVITATION_RENEWAL=auto` has created for it; null: invite again if you agree',
      ),
    },
  ),
  'consent.given': event('the owner has agreed to the text above the button, by a click', 'invitation', {
    invitationId: invitation.invitationId,
    gridLocationId: session.gridLocationId,
    userId: session.userId,
    tenantReference: TENANT_REFERENCE,
    metadata: invitation.metadata,
    campaignId: invitation.campaignId,
    brand: textOrNull('The brand that the owner connects; null if the remote service asks for it'),
    version: text('The version of the text'),
    hash: text('SHA-256 of the text, in hex'),
    locale: textOrNull('The language of the text; null once the user has been erased'),
    givenAt: instant('When the owner clicked'),
  }),
  'consent.withdrawn': event(
    'the owner has withdrawn the consent, on the page or as told to the tenant. No session ends by that: ask the provider to disconnect',
    'invitation',
    {
      ...invitation,
      by: oneOf('Who recorded it: the owner on the page, or the tenant by the API', 'owner', 'tenant'),
      withdrawnAt: instant('When it was recorded'),
    },
  ),
  'invitation.reminder_due': aboutReminder('the owner of an invitation should be reminded of it'),
  'campaign.finished': event(
    'every row of a campaign has a result, or what a cancelled campaign had already sent has one',
    'campaign',
    {
      campaignId: uuid('Id of the campaign'),
      name: textOrNull('As passed at the upload; null if none was passed'),
      counts: {
        description: 'How many rows have each result',
        ...object({
          invalid: count('Rows that cannot be registered as they are'),
          registered: count('Rows whose user this campaign has registered'),
          known: count('Rows whose user was already registered with the same EANs'),
          rejected: count('Rows whose registration was refused or given up'),
          uncertain: count('Rows of which nobody knows whether their registration took effect'),
          cancelled: count('Rows that were not sent because the campaign was cancelled or their user erased'),
        }),
      },
    },
  ),
  'inverter.online': aboutInverter('the session lists an inverter that it did not list before'),
  'inverter.missing': aboutInverter('two reads, 8 minutes apart or more, have not listed an inverter'),
  'remote.degraded': aboutRemoteTrouble(
    'a replica stopped calling an operation of the remote service after failures, or was asked to wait for a minute in total within 5 minutes',
  ),
  'remote.recovered': event(
    'the condition announced by `remote.degraded` or `remote.credentials_rejected` is over',
    'class of remote operations',
    {
      operation: OPERATION,
      from: oneOf('Which condition is over', 'degraded', 'credentials_rejected'),
      since: instant('When the condition began'),
      recoveredAt: instant('When the condition ended'),
    },
  ),
  'remote.credentials_rejected': aboutRemoteTrouble(
    'the remote service refuses our credentials or fresh tokens. A person has to correct this',
  ),
  'remote.budget_short': event(
    'sessions have wanted, for 15 minutes, more than twice the reads that the budget allows, so that changes are noticed later',
    'class of remote operations',
    budget,
  ),
  'remote.budget_sufficient': event(
    'the condition announced by `remote.budget_short` is over',
    'class of remote operations',
    { ...budget, endedAt: instant('When the condition ended') },
  ),
  'remote.contract_drift': event(
    'a response of the remote service differs from the interface description. Each kind of difference in a field is announced once',
    'class of remote operations',
    {
      operation: OPERATION,
      kind: oneOf(
        'How the response differs',
        'new_field',
        'missing_field',
        'other_type',
        'undescribed_flags',
        'token_form',
        'foreign_id',
      ),
      field: text('The path, such as `inverters[].serialNumber`; for `undescribed_flags`, the flags'),
      expected: textOrNull('The type in the description, never a value; null if there is none'),
      found: textOrNull(
        'The type in the response, never a value; for `foreign_id`, the kind of object that the id belongs to; null if there is none',
      ),
      observedAt: instant('When the difference was observed'),
    },
  ),
  'webhook_endpoint.disabled': event(
    'a webhook endpoint is disabled, because it returned 410 or only failures for days',
    'webhook endpoint',
    {
      endpointId: uuid('Id of the endpoint'),
      reason: oneOf('`gone`: it returned 410; `failing`: only failures for days', 'gone', 'failing'),
      since: instant('When the failures began'),
    },
  ),
} as const;
