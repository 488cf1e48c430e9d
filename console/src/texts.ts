import { createElement, Fragment, type ReactNode } from 'react';
import { formatLatency, formatSeconds } from './format/duration.js';
import { countOf, formatNumber } from './format/words.js';

/*
 * Every text of the console that people read stands here, whole: a string, or a function of the numbers, times and links inside it, which
 * also decides about plurals and the order of words. A translation is this file in another language; ESLint refuses texts elsewhere. Not here
 * is only what has its place elsewhere already: units, ages and dates in format/, because they follow the locale; sentences, problems and
 * words of states, which come with the responses of the API; and faults of workbooks, which the command line says, too.
 */

/** Makes a sentence that has components inside. */
const say = (words: TemplateStringsArray, ...parts: readonly ReactNode[]): ReactNode =>
  createElement(Fragment, null, ...words.flatMap((each, index) => [each, parts[index]]));

/** Makes the function that writes a number of something. */
const counted =
  (one: string, many = `${one}s`) =>
  (count: number): string =>
    countOf(count, one, many);

/** Writes what follows only if there is a value. */
const ifAny = <Value>(value: Value | null | undefined, words: (value: Value) => string): string =>
  value === null || value === undefined ? '' : words(value);

const counts = {
  attempt: counted('attempt'),
  call: counted('call'),
  campaign: counted('campaign'),
  customer: counted('customer'),
  delivery: counted('delivery', 'deliveries'),
  difference: counted('difference'),
  endpoint: counted('endpoint'),
  entry: counted('entry', 'entries'),
  event: counted('event'),
  failure: counted('failure'),
  group: counted('group'),
  invitation: counted('invitation'),
  inverter: counted('inverter'),
  item: counted('item'),
  key: counted('key'),
  location: counted('grid location'),
  registration: counted('registration'),
  response: counted('response'),
  row: counted('row'),
  session: counted('session'),
  start: counted('start'),
  table: counted('table'),
  time: counted('time'),
  tokenRequest: counted('token request'),
  type: counted('type'),
};

/** What a check of a file has found, in rows. */
type Summary = Readonly<Record<'new' | 'known' | 'invalid' | 'conflicts', number>>;

const appName = 'PV Onboarding';

const pages = {
  '': 'On duty',
  stalled: 'Stalled',
  customers: 'Customers',
  sessions: 'Sessions',
  registrations: 'Registrations',
  invitations: 'Invitations',
  campaigns: 'Campaigns',
  brands: 'Brands',
  webhooks: 'Webhooks',
  keys: 'Keys',
  audit: 'Audit log',
} as const;

export const texts = {
  counts,
  pages,

  // ── What many pages have ──

  /** The names of columns, facts, filters and fields. */
  titles: {
    actions: 'Actions',
    actor: 'Actor',
    apiKey: 'API key',
    attempts: 'Attempts',
    brand: 'Brand',
    brands: 'Brands',
    campaign: 'Campaign',
    cause: 'Cause',
    changed: 'Changed',
    consentWithdrawn: 'Consent withdrawn',
    created: 'Created',
    customer: 'Customer',
    declined: 'Declined',
    description: 'Description',
    details: 'Details',
    difference: 'Difference',
    disconnected: 'Disconnected',
    doneTo: 'Done to',
    ean: 'EAN',
    eans: 'EANs',
    email: 'Email',
    endpoint: 'Endpoint',
    event: 'Event',
    expected: 'Expected',
    expired: 'Expired',
    expires: 'Expires',
    finished: 'Finished',
    firstSeen: 'First seen',
    flags: 'Flags',
    from: 'From',
    howItIs: 'How it is',
    id: 'Id',
    inverter: 'Inverter',
    inverters: 'Inverters',
    language: 'Language',
    lastAnswer: 'Last answer',
    lastChange: 'Last change',
    lastDelivery: 'Last delivery',
    lastRead: 'Last read',
    lastReminder: 'Last reminder',
    lastStep: 'Last step',
    lastUsed: 'Last used',
    line: 'Line',
    link: 'Link',
    metadata: 'Metadata',
    missing: 'Missing',
    missingSince: 'Missing since',
    name: 'Name',
    nextRead: 'Next read',
    nextReminder: 'Next reminder',
    online: 'Online',
    opened: 'Opened',
    operation: 'Operation',
    outcome: 'Outcome',
    ownerDone: 'Owner done',
    owners: 'Owners',
    problems: 'Problems',
    progress: 'Progress',
    refused: 'Refused',
    registered: 'Registered',
    registration: 'Registration',
    scopes: 'Scopes',
    session: 'Session',
    sessionId: 'Session id',
    since: 'Since',
    stalled: 'Stalled',
    stalledBecause: 'Stalled because',
    started: 'Started',
    state: 'State',
    status: 'Status',
    timesSent: 'Times sent',
    to: 'To',
    toOnlineMedian: 'To online, median',
    urgent: 'Urgent',
    url: 'URL',
    user: 'User',
    userId: 'User id',
    waiting: 'Waiting',
    waitsFor: 'Waits for',
    what: 'What',
    whatBecameOfIt: 'What became of it',
    whatFollowed: 'What followed',
    whatHappened: 'What happened',
    whatIsKnown: 'What is known',
    whatToDo: 'What to do',
    when: 'When',
    who: 'Who',
    whoAndNote: 'Who, note',
    why: 'Why',
  },

  /** What stands in place of a value, and the choices of filters that are no values. */
  values: {
    all: 'all',
    any: 'any',
    anybody: 'anybody',
    anything: 'anything',
    anyBrand: 'any brand',
    areInvited: 'are invited',
    areNotInvited: 'are not invited',
    erased: 'erased',
    /** After a state. */
    inferred: ' (inferred)',
    never: 'never',
    no: 'no',
    nobody: 'nobody',
    noError: 'no error',
    none: 'none',
    noneYet: 'none yet',
    notMissing: 'not missing',
    notStated: 'not stated',
    notWatched: 'not watched',
    notYet: 'not yet',
    nothingYet: 'nothing yet',
    onlyStalled: 'only stalled',
    unknown: 'unknown',
    yes: 'yes',
  },

  buttons: {
    allCustomers: 'All customers',
    cancel: 'Cancel',
    change: 'Change',
    clear: 'Clear',
    close: 'Close',
    copy: 'Copy',
    copyTheLink: 'Copy the link',
    delete: 'Delete',
    disable: 'Disable',
    enable: 'Enable',
    erase: 'Erase',
    exportData: 'Export data',
    giveUp: 'Give up',
    goBack: 'Go back',
    itExists: 'It exists',
    loadAnew: 'Load the console anew',
    note: 'Note',
    pause: 'Pause',
    prolong: 'Prolong',
    readNow: 'Read now',
    redeliver: 'Redeliver',
    refresh: 'Refresh',
    refreshNow: 'Refresh now',
    remindNow: 'Remind now',
    resume: 'Resume',
    revoke: 'Revoke',
    save: 'Save',
    saveAsCsv: 'Save as CSV',
    sendAgain: 'Send again',
    showAll: 'Show all',
    showMore: 'Show more',
    signIn: 'Sign in',
    signOut: 'Sign out',
    test: 'Test',
    tryAgain: 'Try again',
  },

  /** The orders of lists. */
  orders: {
    newestFirst: 'the newest first',
    longestStalledFirst: 'the longest stalled first',
    longestUnchangedFirst: 'the longest unchanged first',
  },

  /** For whom something waits: as a sentence, and in a table. */
  waits: {
    tenant: 'Waits for you',
    remote_service: 'Waits for the provider',
    owner: 'Waits for the owner',
    installation: 'Waits for the installation',
    us: 'Waits for the operators of this service',
    nobody: 'Waits for nobody',
  },
  shortWaits: {
    tenant: 'you',
    remote_service: 'the provider',
    owner: 'the owner',
    installation: 'the installation',
    us: 'the operators',
    nobody: 'nobody',
  },

  /** How soon a person has to act. */
  urgencies: { now: 'now', soon: 'within a day', later: 'later' },

  app: {
    name: appName,
    titleOf: (page: string) => `${page} · ${appName}`,
    notFound: 'Not found',
    noSuchPage: 'There is no such page',
    cannotBeShown:
      'This page cannot be shown: perhaps it did not arrive, or the service has been updated since the console was opened.',
    mayNotSee: 'You may not see this page',
    scopes: (alternatives: readonly (readonly string[])[]) =>
      alternatives.map((scopes) => `the scope ${scopes.join(' or ')}`).join(' and '),
    needs: (scopes: string) => `It needs ${scopes}.`,
  },

  signIn: {
    withAccount: 'Sign in with your company account.',
    withKey:
      'Sign in with an API key. Its scopes decide what you see. The key is exchanged for a session of 12 hours, and is not stored in the browser.',
    unknownKey: 'The service does not know this key, or it was revoked.',
    isOver:
      'Your session has ended. An import that you have begun is still here when you have signed in again.',
    notKept:
      'The browser has not kept the session. Open the console by https, and allow it to set its cookie.',
    tooManyAttempts: 'Too many attempts from this network. Wait a minute.',
    administrator: 'administrator',
  },

  shell: {
    skip: 'Skip to the page',
    pages: 'Pages',
    searchLabel: 'Search by reference, EAN, id or link',
    searchPlaceholder: 'Reference, EAN, id or link',
    footer: (until: ReactNode) =>
      say`Signed in until ${until}. Times are in your time zone; point at one to see UTC.`,
    keys: (keyOf: (name: string) => ReactNode) =>
      say`Press ${keyOf('/')} to search, ${keyOf('Ctrl')} ${keyOf('K')} to go to a page or to do what it offers.`,
    liveLost: (age: ReactNode, everyMs: number) =>
      say`Live updates were lost ${age}. The lists are read every ${everyMs / 1_000} s instead.`,
    liveRefused: (everyMs: number) =>
      `No live updates: they need the scope events:read. The lists are read every ${everyMs / 1_000} s instead.`,
  },

  palette: {
    title: 'Go to, do or find',
    field: 'A page, an act of this page, a reference, an EAN or an id',
    choices: 'Choices',
    page: 'page',
    act: 'act',
    search: 'search',
    searchFor: (term: string) => `Search for “${term}”`,
  },

  /** What is shown while something loads, after it failed, and after an act. */
  loaded: {
    loading: 'Loading …',
    unreachable: 'The service cannot be reached.',
    unanswered:
      'The service cannot be reached. What it was asked to do may be done all the same: look before you do it again.',
    /** A response that is not of the service. */
    refusedBefore: (status: number) =>
      `The service cannot be reached: something before it, such as a proxy, responded with ${status}.`,
    lastRead: (age: ReactNode) => say`Last read ${age}.`,
  },
  copy: {
    copied: 'Copied.',
    refused: (text: string) => `The browser does not allow it to be copied. Copy it by hand: ${text}`,
    clickToCopy: (text: string) => `${text}: click to copy`,
    copyOf: (text: string) => `Copy ${text}`,
  },
  links: {
    toPage: (page: keyof typeof pages) => `See ${pages[page].toLowerCase()}`,
    toSubject: {
      customers: 'Open the customer',
      sessions: 'Open the session',
      invitations: 'Open the invitation',
      campaigns: 'Open the campaign',
      webhooks: 'Open the endpoint',
    },
    toIt: 'Open it',
  },

  list: {
    search: 'Search these rows',
    noneHasThis: 'None of the rows that are shown has this.',
    columns: 'Columns',
    selection: 'What is selected',
    selected: (count: string) => `${count} selected`,
    selectAll: 'Select all that are shown',
    select: 'Select',
    /** `found`: how many of the rows a search has left, if not all rows have been read. */
    shown: (count: string, order: string | undefined, isPart: boolean, found: number | null) => {
      const first = isPart ? `the first ${count}` : count;
      const all = found === null ? first : `${formatNumber(found)} of ${first}`;
      return `${all.charAt(0).toUpperCase()}${all.slice(1)}${ifAny(order, (words) => `, ${words}`)}.`;
    },
  },

  secret: 'Copy it now. It is shown once; the service stores no copy that can be read.',

  bulk: {
    accepted: (count: string) =>
      `${count} will be acted on, one after the other, also if you close this page.`,
    skips: 'Those that have changed meanwhile are skipped.',
    reason: 'For the audit log. No names of customers',
    preview: (count: string) => `${count}:`,
    more: (count: number) => `and ${formatNumber(count)} more`,
    result: (done: number, skipped: number, failed: number) =>
      `${formatNumber(done)} done, ${formatNumber(skipped)} skipped, ${formatNumber(failed)} failed.`,
    noRemedyInCommon: 'These have no remedy in common: select those of one cause.',
  },

  /** Why something waits, and what a person can do about it. */
  stall: {
    notice: (why: ReactNode, waits: string, time: ReactNode) =>
      say`${createElement('strong', null, 'Stalled:')} ${why} ${waits}, ${time}.`,
    first: (before: ReactNode) => say`First: ${before}`,
    next: (step: ReactNode) => say`Next: ${step}`,
    nothingToDo: 'Nothing that this service can do.',
    since: (since: ReactNode) => say`Since ${since}`,
    sinceUntil: (since: ReactNode, until: ReactNode, waitsFor: string) =>
      waitsFor === 'owner'
        ? say`Since ${since}, to be done by ${until}`
        : waitsFor === 'remote_service'
          ? say`Since ${since}, tried again ${until}`
          : say`Since ${since}, usually until ${until}`,
    for: (duration: string) => `for ${duration}`,
    snoozed: (badge: (word: string) => ReactNode, until: ReactNode) =>
      say`${badge('snoozed')} until ${until}`,
    noted: 'It is noted.',
    worker: 'Who works on it',
    note: 'Note for the next person',
    snooze: 'Leave it until',
    snoozeHint: 'It wakes earlier if something changes. Empty: do not leave it',
    failed: (error: string) => `It did not work: ${error}.`,
    tooSoon: 'A token was requested seconds ago. Try again in 5 s.',
    notDelivered: (why: string) => `The test event was not delivered: ${why}.`,
    done: (status: string | null) =>
      `Done.${ifAny(status, (word) => ` Its status is ${word}.`)} If this was the cure, it leaves the list within seconds.`,
    lastAct: (act: ReactNode, who: string, age: ReactNode, outcome: string | null) =>
      say`${act} by ${who} ${age}${ifAny(outcome, (words) => ` (${words})`)}.`,
  },

  /** What has been tried about an incident, or about something that is stalled. */
  tried: {
    tokenRequests: (count: number, next: string | null) =>
      `${counts.tokenRequest(count)} in vain${ifAny(next, (at) => `, the next ${at}`)}.`,
    events: 'Every event is published again, in order, until one is accepted.',
    registrations: 'nothing by itself, since the customer could then exist twice.',
    deliveries: (count: number, seconds: number) =>
      `${counts.delivery(count)} in vain, for ${formatSeconds(seconds)}. Each is tried again.`,
    calls: (operation: string, count: number, worked: number, last: string | null, heldBack: string | null) =>
      `${operation}: ${counts.call(count)} in 5 min, ${worked === 0 ? 'none' : formatNumber(worked)} worked${ifAny(last, (at) => `, the last success ${at}`)}.${ifAny(heldBack, (by) => ` ${by}.`)}`,
    times: (count: number, last: string | null, outcome: string | null) =>
      `tried ${counts.time(count)}${ifAny(last, (at) => `, the last ${at}`)}${ifAny(outcome, (words) => `, last outcome: ${words}`)}`,
  },

  // ── On duty ──

  verdict: {
    unread: 'The status cannot be read.',
    unreadAndOld: 'The status cannot be read. What follows is old.',
    trouble: (title: string, more: number) =>
      `${title}.${more === 0 ? '' : more === 1 ? ' One more is below.' : ` ${more} more are below.`}`,
    needsUnread: 'The service is well. What needs a person has not been read.',
    well: 'All is well.',
    needs: (count: number) => `The service is well; ${countOf(count, 'item needs', 'items need')} a person.`,
    since: 'Since',
    soSince: 'So since at least',
    wellSince: 'Well since at least',
    oldestSince: 'The oldest since',
  },

  duty: {
    views: {
      past: 'What was wrong',
      remote: 'Remote service',
      freshness: 'Freshness',
      customers: 'Customers',
      events: 'Events',
      processes: 'Processes',
    },
    ranges: { 1: '1 h', 24: '24 h', 168: '7 d' },
    parts: 'Parts of this page',
    now: 'Now',
    pastUnread: (why: string) => `The past could not be read: ${why}`,
    updated: (age: ReactNode) => say`updated ${age}`,
    updatedSince: (words: string, since: ReactNode, age: ReactNode) =>
      say`${words} ${since} · updated ${age}`,
    charts: 'Charts:',
    howFarBack: 'How far back the charts go',
    shownTime: 'The time that the charts show',
    zooms: { in: 'Zoom in', out: 'Zoom out', earlier: 'Earlier', later: 'Later' },
  },

  figures: {
    label: 'Figures',
    noCalls: 'no calls',
    in5min: 'in 5 min',
    answered: (percent: number) => `${formatNumber(percent)} % answered`,
    calls: (count: number, slowestSeconds: number) =>
      `${counts.call(count)} in 5 min${slowestSeconds > 0 ? `, 95 % within ${formatLatency(slowestSeconds)}` : ''}`,
    scheduleLocked: 'the schedule is locked',
    late: (count: number) => `${formatNumber(count)} late`,
    ofWatched: (count: number) => `of ${countOf(count, 'watched session')}`,
    inLastHour: (usual: number | null) =>
      `in the last hour${usual === null || usual === 0 ? '' : `, usually at least ${formatNumber(usual)}`}`,
    noDelay: 'no delay',
    behind: (seconds: number) => `${formatSeconds(seconds)} behind`,
    endpoints: (count: number, failing: number) =>
      `${counts.endpoint(count)}, ${formatNumber(failing)} failing for 15 min`,
  },

  incidents: {
    label: 'What is wrong, the worst first',
    onlyTheWorst: 'Only the worst',
    more: (count: number) => countOf(count, 'more incident'),
    whose: { us: 'ours', remote_service: 'theirs', tenant: 'yours' },
    symptoms: (titles: readonly string[]) => `From it, probably: ${titles.join('; ')}.`,
    tried: (what: ReactNode, act: ReactNode) => say`Tried: ${what}${act}`,
    runbook: (section: string) => `Runbook: ${section}`,
  },

  needs: {
    title: 'Needs a person',
    nobodyNeeded: 'Nothing waits for a person.',
    total: (items: number, groups: number) =>
      `${counts.item(items)} in ${counts.group(groups)}. New: since yesterday.`,
    new: (count: number) => `${formatNumber(count)} new`,
    group: (count: string, title: string) => `${count}: ${title}`,
    facts: (waits: string, isOldest: boolean, time: ReactNode, tries: ReactNode) =>
      say`${waits}, ${isOldest && 'the oldest '}${time}${tries && say`, ${tries}`}.`,
    forAll: (act: string, count: number) => `${act} (all ${count})`,
    chooseAmong: (count: number) => `Choose among all ${formatNumber(count)}`,
  },

  troubles: {
    title: (range: string) => `What was wrong in the last ${range}`,
    notYet: 'The first values arrive within a minute.',
    nothing: 'Nothing was wrong.',
    lasted: (seconds: number, until: ReactNode) =>
      seconds > 0 ? say`about ${formatSeconds(seconds)}, ${until}` : until,
    still: 'still',
    until: (age: ReactNode) => say`until ${age}`,
  },

  trend: {
    loading: 'loading …',
    noValues: 'no values yet',
    values: (last: string, least: string, greatest: string) => `last ${last}, from ${least} to ${greatest}`,
    label: (name: string, values: string) => `${name}: ${values}`,
    withDashed: (title: string, dashed: string) => `${title}, dashed: ${dashed}`,
    pointed: (at: string, values: readonly string[]) => ` · ${at}: ${values.join(', ')}`,
  },

  operations: {
    token: 'Access token',
    register_user: 'Register a user',
    start_session: 'Start a session',
    read_session: 'Read a session',
    pass_through: 'Calls passed on',
  },

  remote: {
    label: 'Operations of the remote service',
    health: 'Health',
    callsIn5min: 'Calls in 5 min',
    calls: (count: number, share: number) =>
      `${formatNumber(count)}, ${formatNumber(100 * share)} % answered`,
    percentiles: 'Half within, 95 % within',
    lastSuccess: 'Last success',
    lastError: 'Last error',
    heldBackBy: 'Held back by',
    askedToWait: (waitSeconds: number | null, leftSeconds: number | null) =>
      `The remote service asked to wait${ifAny(waitSeconds, (wait) => ` ${formatSeconds(wait)}`)}${ifAny(leftSeconds, (left) => `; ${formatSeconds(left)} left`)}`,
    breakerIsOpen: (leftSeconds: number | null) =>
      `Our breaker is open, because calls failed${ifAny(leftSeconds, (left) => `; ${formatSeconds(left)} left`)}`,
    ourLimitReached: 'Our limit SCS_MAX_REQUESTS_PER_SECOND',
    inFlight: 'In flight',
    inFlightOf: (count: number, current: number, ceiling: number) =>
      `${counts.call(count)} of ${current} at once (at most ${ceiling})`,
    queued: 'Queued',
    queuedOf: (awaited: number, others: number) =>
      `${counts.call(awaited)} that somebody waits for, ${formatNumber(others)} other`,
    ourLimit: 'Our limit',
    limitOf: (perSecond: number, isHoldingBack: boolean) =>
      `${formatNumber(perSecond)} requests/s${isHoldingBack ? ', holding back' : ''}`,
    accessToken: 'Access token',
    tokenOf: (state: string, renewsAt: ReactNode, failures: number, error: string | null) =>
      say`${state}${renewsAt && say`, renews ${renewsAt}`}${failures > 0 && `, ${counts.failure(failures)}: ${error}`}`,

    drift: 'Interface drift',
    explanation:
      'Calls and their durations are of all processes. A 404 counts as an answer, and so does one with a field that cannot be read: see the last error, the drift and the stalled sessions. The last success, the breaker and the queue are of the process that answered this page.',
    p95Of: (operation: string) => `${operation}, 95 % within`,
    answeredOf: (operation: string) => `${operation}, answered`,
  },

  freshness: {
    locked: 'Unknown: the table of the schedule is locked.',
    watched: 'Watched',
    late: 'Late',
    noneLate: 'none: every read is in time',
    lateBy: (count: number, seconds: number) =>
      `${counts.session(count)}, the latest by ${formatSeconds(seconds)} (target: under 2 min)`,
    reading: 'Reading',
    wanted: 'Wanted',
    allowed: 'Allowed',
    noLimit: 'no limit',
    rate: (perSecond: number) => `${formatNumber(perSecond)} reads/s`,
    stretch: 'Stretch',
    noStretch: 'none: intervals as planned',
    stretchedBy: (factor: number) => `intervals ${formatNumber(factor)} times as long as planned`,
    changesNoticed: 'Changes noticed',
    noChange: 'no new change in the last hour',
    noticedWithin: (p50Seconds: number, p95Seconds: number) =>
      `half within ${formatSeconds(p50Seconds)}, 95 % within ${formatSeconds(p95Seconds)}`,
    byPhase: 'How long ago sessions were read, by phase',
    phase: 'Phase',
    lastReadMedian: 'Last read, median',
    oldestDue: 'Oldest due',
    readsPerSecond: 'Reads per second',
    wantedLine: 'wanted',
    lateness: 'Lateness',
    targetLine: 'target',
    oldestDueRead: 'Oldest due read',
  },

  stalledSessions: {
    title: 'Stalled sessions',
    all: 'All stalled',
    none: 'No session waits for longer than can be expected.',
  },

  ours: {
    title: 'Registrations and starts',
    toDecide: 'To decide',
    sentAgain: 'Sent again',
    withOldest: (count: string, oldestSeconds: number) =>
      `${count}${oldestSeconds === 0 ? '' : `, the oldest for ${formatSeconds(oldestSeconds)}`}`,
    rejected: 'Rejected',
    in24h: (count: string) => `${count} in 24 h`,
    starts: 'Starts',
    startsInLastHour: (count: number, usual: number | null) =>
      `${formatNumber(count)} in the last hour${usual === null || usual === 0 ? '' : ` (usually at least ${formatNumber(usual)})`}`,
    startsWithoutEnd: 'Starts without end',
    orphans: 'Orphans',
    orphansOf: (count: number) => `${countOf(count, 'remote session')} in 24 h whose id nobody knows`,
    noChange: 'no session has changed yet',
    registrationsToDecide: 'Registrations to decide',
    sentAgainLine: 'sent again',
    startsPerHour: 'Starts per hour',
  },

  /** How far owners come. */
  funnel: {
    steps: {
      invited: 'Invited',
      opened: 'Opened',
      started: 'Started',
      ownerDone: 'Owner done (inferred)',
      online: 'Online',
    },
    inDays: (days: number) => `Invitations in ${days} days`,
    nobody: 'No owner was invited.',
    byDay: 'Invitations by day',
    day: 'Day (UTC)',
    howFar: 'How far the invited came',
  },

  endpoints: {
    title: 'Webhook endpoints',
    none: 'There is no endpoint.',
    more: (count: number) => `${countOf(count, 'more endpoint')}.`,
    failing: 'Failing endpoints',
  },

  readers: {
    title: 'Readers of events',
    lag: (count: number, seconds: number) =>
      count === 0 ? 'has all events' : `${counts.event(count)} behind, by ${formatSeconds(seconds)}`,
    withoutSequence: 'Without sequence',
    unsequenced: (count: number, seconds: number) =>
      count === 0 ? 'no event' : `${counts.event(count)} behind, by ${formatSeconds(seconds)}`,
    webhooks: (lag: string, failing: number, all: number, disabled: number) =>
      `${lag}; ${formatNumber(failing)} of ${counts.endpoint(all)} failing for 15 min, ${formatNumber(disabled)} disabled after failures`,
    handlers: 'Handlers',
    handlersOf: (lag: string, failing: number) =>
      `${lag}${failing === 0 ? '' : `; ${formatNumber(failing)} fail`}`,
    broker: 'Broker',
    brokerOf: (lag: string, error: string | null) => `${lag}${ifAny(error, (why) => `; it fails: ${why}`)}`,
    streams: 'Streams',
    open: (count: number) => `${formatNumber(count)} open, with this page's`,
    slowest: 'Slowest reader',
  },

  processes: {
    none: 'No process is alive.',
    alive: (roles: readonly (readonly [role: string, count: number])[]) =>
      `Alive: ${roles.map(([role, count]) => `${formatNumber(count)} with the role ${role}`).join(', ')}.`,
    process: 'Process',
    role: 'Role',
    lastSign: 'Last sign of life',
    requestsPerMinute: 'Requests/min',
    requests: (all: number, failed: number, refused: number) =>
      `${formatNumber(all)}, ${formatNumber(failed)} failed, ${formatNumber(refused)} refused`,
    readsPerSecond: 'Reads/s',
    release: 'Release',
    live: 'Live processes',
    isAlive: 'alive',
    vanished: 'vanished',
    stopped: 'stopped',
  },

  database: {
    title: 'Database',
    notBlocked: 'Nothing blocks it.',
    noTransaction: 'No open transaction is visible to the service.',
    oldest: (seconds: number) => `The oldest open transaction: ${formatSeconds(seconds)}.`,
    locks: (count: number) => `Locks against writing: ${counts.table(count)}.`,
    oldestTransaction: 'Oldest open transaction',
  },

  // ── Stalled ──

  stalled: {
    explanation: 'What does not continue by itself.',
    causes: 'Causes',
    fewerCauses: 'Fewer causes',
    moreCauses: (count: number) => countOf(count, 'more cause'),
    noneMatches: 'Nothing that is stalled matches the filters.',
    none: 'Nothing is stalled.',
    new: 'new',
  },

  // ── Customers and the search ──

  customers: {
    stalledFor: 'Stalled, waits for',
    all: 'all customers',
    anyCause: 'any cause',
    noneMatches: 'No customer matches the filters.',
    none: 'Nobody is registered yet.',
  },

  search: {
    title: 'Search',
    needsScope: 'A search needs the scope users:read or onboarding:read.',
    found: 'Found',
    alsoFound: 'Also found',
    nothing: (term: string) =>
      `Nothing is known under “${term}”. A reference may be cut off at its end; EANs and ids are compared whole.`,
  },

  customer: {
    titleOf: (reference: string) => `Customer ${reference}`,
    named: (reference: string) => say`Customer ${createElement('strong', null, reference)}`,
    whatWasDone: 'What was done',
    nothingDone: 'Nobody has decided, revoked or erased anything about this customer.',
    about: 'About',
    noRegistration: 'none is stored',
    registrationOf: (status: string, attempts: number) => `${status}, ${counts.attempt(attempts)}`,
    location: (ean: string) => `Grid location ${ean}`,
    sessions: 'Sessions of the location',
    noSession: 'No session has been started.',
    inverters: 'Inverters of the location',
    noInverter: 'None has been seen.',
    invitations: 'Invitations of the location',
    notInvited: 'The owner has not been invited.',
    inviteOwner: 'Invite the owner',
    startSession: 'Start a session',
    startAgain: 'Start again',
    sessionStarted: 'A session is started.',
    linkCopied: 'The link of the session is copied.',
    startConsequence:
      'Starts a new session at the provider. The owner has to follow its link, and to authorise again.',
    registerAnew: 'Register anew',
    registrationIs: (status: string) => `The registration is ${status}.`,
    isRegistered: 'The customer is registered.',
    sendsAgain: (eans: readonly string[]) =>
      `Sends the same reference and EANs to the provider again: ${eans.join(', ')}.`,
    adopt: 'Adopt a session',
    adopted: 'The session is read at the provider. The campaign has the result.',
    adoptConsequence: (reference: string) =>
      say`Takes over a session of ${createElement('strong', null, reference)} that exists at the provider and not here. Nothing is created there.`,
    fromProvider: 'From the provider',
    idPattern: 'An id such as 8bc432c7-fd1e-4d99-9dcb-2fbcb63255c5',
    adoptedCampaign: 'Adopted in the console',
    isRead: (state: string) => `It is read. Its state is ${state}.`,
    exported: 'What is stored about the customer is saved as a file.',
    exportContent:
      'A file with everything that is stored here about this customer, to answer a request of access. It has no links and no secrets. The audit log says who saved it.',
    exportWarning: 'It is personal: give it to the customer alone, and delete it.',
    erased: 'The customer is erased. The receipt is saved as a file.',
    erasedParts: (locations: number, invitations: number, sessions: number) =>
      `These go: the reference, names, email and metadata, ${counts.location(locations)} with the EANs, ${counts.invitation(invitations)} and what was read of ${counts.session(sessions)}.`,
    eraseWarning: 'This cannot be undone. The provider is not told: ask it to erase the customer, too.',
  },

  // ── Sessions ──

  sessions: {
    noneMatches: 'No session matches the filters.',
    title: (id: ReactNode) => say`Session ${id}`,
    flag: (name: string, stated: string) => `${name} ${stated}`,
    unwatchedSince: (at: ReactNode) => say`It is no longer watched, since ${at}.`,
    settledSince: (at: ReactNode) => say`It is settled, and seldom read, since ${at}.`,
    supersededAt: (at: ReactNode, link: (words: string) => ReactNode) =>
      say`A newer session took its place at ${at}. See the ${link('sessions')}.`,
    notRead: 'It is not read again by itself.',
    nextRead: (age: ReactNode, seconds: number) => say`${age}, ${formatSeconds(seconds)} after the last`,
  },

  timeline: {
    nothing: 'Nothing is recorded about it.',
    noChange: 'no change of state',
    byRule: (rule: string) => `by the rule ${rule}`,
    startRequested: (attempts: number, lost: number) =>
      `Start requested${attempts > 1 ? `, sent ${counts.time(attempts)}` : ''}${lost > 0 ? `; ${counts.response(lost)} lost` : ''}`,
    observed: (isStart: boolean, flags: string, inverters: number | null) =>
      `${isStart ? 'Started' : 'Read'}: ${flags}${ifAny(inverters, (count) => `, ${counts.inverter(count)}`)}`,
    firstState: 'First state',
    noLonger: (state: string) => `No longer ${state}`,
    event: (name: string) => `Event ${name}`,
    closed: (reason: string) => `No longer watched: ${reason}`,
    notTaken: 'no endpoint takes it',
    notShown: 'its deliveries are not shown',
    receivedBy: (got: number, all: number) =>
      `received by ${got} of ${counts.endpoint(all)}${all > got ? `; ${all - got} not yet` : ''}`,
    states: (parts: readonly (readonly [state: string, duration: string])[]) =>
      parts.map(([state, duration]) => `${state} for ${duration}`).join(', then '),
    from: (state: ReactNode, at: ReactNode, duration: string) => say`${state} from ${at}, ${duration}`,
  },

  // ── Registrations ──

  registrations: {
    uncertain:
      'The response to each of these was lost, so the customer may be registered at the provider. The provider offers no look-up: ask it, then decide.',
    noneToDecide: 'No registration waits for a decision.',
    noneIs: (status: string) => `No registration is ${status}.`,
    sendManyAgain:
      'Only if the provider has confirmed that none of them exists: each that does is registered twice.',
    giveManyUp: 'They are not registered. A user that the provider has after all stays there unused.',
    nextAttempt: (at: ReactNode) => say`Next attempt ${at}`,
    exists: 'The provider has the customer',
    enterUser: 'Enter this user',
    entered: 'The user is entered.',
    sendAgain: 'Send the registration again',
    sentAgain: 'The registration is sent again.',
    giveUp: 'Give the registration up',
    givenUp: 'The registration is given up.',
    decided: (reference: string, done: string) => `${reference}: ${done}`,
    sendAgainWarning:
      'If the provider has already registered this customer, a second registration creates a second user for the same grid connection, which nobody can remove from here.',
    isConfirmed: 'The provider has confirmed that no user with this reference exists.',
    giveUpConsequence:
      'The app may then register the customer anew. If the provider has registered the customer after all, that user stays there unused.',
    confirmedUser: 'What the provider confirmed',
    confirmedUserHint: 'Paste it as it is: the mail, the rows, or the user object. The ids are read from it.',
    locationId: (ean: string) => `Grid location id of ${ean}`,
    noId: 'An id has 32 letters and digits in five groups, such as 8bc432c7-fd1e-4d99-…',
    idTwice: 'This id is entered twice: each is of one thing',
    otherCustomer: 'This is the user of another customer: the reference differs.',
    otherEan: (ean: string) => `The EAN ${ean} was not requested for this customer.`,
    noIdInText: 'There is no id in this text. Enter the ids below.',
  },

  // ── Invitations ──

  invitations: {
    noneMatches: 'No invitation matches the filters.',
    title: (reference: string) => `Invitation of ${reference}`,

    noneIsPlanned: 'none is planned',
    worklist: 'Worklist',
    saveWorklist: 'Save worklist',
    worklistSaved: (count: number) => `The worklist has ${counts.invitation(count)}.`,
    worklistContent:
      'A file for your mailing: of each invitation that the filters show and its owner can still use, the link, the cause and the next reminder.',
    worklistWarning: 'Anybody who has a link can act as the owner. Keep the file safe, and delete it.',
    tooMany: 'There are more than 5,000 invitations: choose a filter.',
    languages: {
      '': 'that of the browser',
      nl: 'Dutch',
      fr: 'French',
      de: 'German',
      en: 'English',
    },
    withdraw: 'Withdraw the consent',
    withdrawn: 'The withdrawal is recorded. Ask the provider to disconnect the installation.',
    withdrawWarning:
      'As the owner has told you. No reminder follows, and only the owner can agree again. The installation stays connected until the provider disconnects it.',
    reminded: 'The reminder is announced. Your mailing sends it.',
    changed: 'The invitation is changed. Its link stays the same.',
    revoked: 'The invitation is revoked.',
    revokeWarning: 'Its link stops working, also in mails that were sent. A new one has to be sent.',
    validUntil: 'Valid until the end of',
    linkStays: 'The link in mails that were sent stays the same.',
    brandsHint: 'Separated by commas. Empty: the owner chooses',
    created: 'The owner has an invitation.',
    createConsequence: 'Creates a link for the owner of this location. Your mailing sends it, or you do.',
    noReminderWithinHour: 'An owner who was reminded within the last hour is not reminded again.',
    revokeManyWarning: 'Their links stop working, also in mails that were sent.',
    linkCopied: 'The link is copied.',
  },

  // ── Campaigns and the import ──

  campaigns: {
    statuses: {
      running: 'running',
      paused: 'paused',
      finished: 'finished',
      cancelled: 'cancelled',
      checked: 'only checked',
    },
    anyButChecks: 'any but checks',
    none: 'No file of customers has been uploaded. Import one, here or by `import FILE` of the command line.',
    noneIs: (status: string) => `No campaign is ${status}.`,
    countResults: 'Count the results',
    rowsWithResult: 'Rows with a result',
    progress: (done: number, all: number, perSecond: number | null, remainingSeconds: number | null) =>
      `${formatNumber(done)} of ${counts.row(all)}${ifAny(perSecond, (rate) => `, ${formatNumber(rate)} rows/s`)}${ifAny(remainingSeconds, (left) => `, ${formatSeconds(left)} left`)}`,
    resultOf: (count: number, status: string) => `${formatNumber(count)} ${status}`,
    done: {
      pause: 'The campaign is paused. Its rows wait.',
      resume: 'The campaign continues.',
      cancel: 'The campaign is cancelled.',
    },
    cancel: 'Cancel the campaign',
    named: (name: ReactNode) => say`Campaign ${createElement('strong', null, name)}`,
    cancelWarning: 'Its rows without a result are never registered. It cannot be resumed.',
    titleOf: (id: string) => `Campaign ${id}`,
    saveResult: 'Save result.csv',
    stalledCustomers: 'Stalled customers',
    funnel: 'Funnel by campaign',
    heldUp: (reason: string, link: ReactNode) =>
      say`${reason}. The campaign continues by itself once that has ended. ${link}`,
    rows: 'Rows',
    noRow: 'No row has this status.',
  },

  import: {
    title: 'Import customers',
    takeAnother: 'Take another file',
    fileStep: '1. The file',
    drop: 'Drop an Excel or CSV file here, or choose one',
    reading: 'The file is being read …',
    chooseSheet: (file: string) => `${file} has several sheets. Choose the one with the customers:`,
    sheets: 'Sheets',
    sheetOf: (sheet: string, rows: number) => `${sheet} (${counts.row(rows)})`,
    paste: 'Or paste rows from a spreadsheet, with the names of the columns above them',
    pastedRows: 'Pasted rows',
    takeRows: 'Take these rows',
    oneFile: 'Take one file at a time.',
    tooLarge: 'This file is larger than 20 MB. Upload it by `import FILE` of the command line.',
    unreadable: 'It cannot be read. Is it a folder, or has it changed meanwhile?',
    mixedEncodings: 'The file is not a text in one encoding: save it as CSV in UTF-8.',
    otherEncoding:
      'Save the file as CSV in UTF-8, or upload it by `import FILE --encoding` of the command line.',
    readTwice:
      'Take the rows from your system again, and open them as UTF-8; if the word is right, upload the file by `import FILE --encoding` of the command line.',
    noCells: 'The workbook has no cells.',
    workbookUnreadable: 'The workbook cannot be read: save the sheet as CSV.',
    workbookTooSlow: 'The workbook was not read within a minute: save the sheet as CSV.',
    openQuote: (row: number) => `A quote is not closed, after row ${row}.`,
    noRows: 'There must be a line with the names of the columns, and a row below.',
    columnsStep: (file: string) => `2. The columns of ${file}`,
    column: (number: number) => `Column ${number}`,
    fields: {
      tenantReference: 'Customer reference',
      ean: 'EAN',
      brand: 'Brand',
      locale: 'Language',
      expectedInverters: 'Number of inverters',
      eanConfirmed: 'EAN is confirmed',
    },
    ownData: (name: string) => `own data: ${name}`,
    notUsed: 'not used',
    usedTwice: (field: string) => `Two columns are “${field}”. Choose one.`,
    missing: (fields: readonly string[]) =>
      `Say which column is ${fields.map((each) => `“${each}”`).join(' and which is ')}.`,
    unusedEans: (column: string) =>
      `“${column}” has EANs, and is not used: a further EAN of a customer needs a row of its own, with the same reference.`,
    firstRows: 'The first rows',
    firstOf: (all: number, shown: number) => `${counts.row(all)}. The first ${shown}:`,
    campaignName: 'Name of the campaign',
    inviteOwners: 'Invite the owners',
    check: 'Check the rows',
    checking: 'Checking …',
    checkAgain: 'Check again',
    resultStep: '3. What the check has found',
    found: {
      new: 'New',
      known: 'Known already',
      conflicts: 'Known with other EANs',
      invalid: 'With faults',
      duplicates: 'Twice in the file',
    },
    correct: 'Correct a cell and check again, or correct the file.',
    correctFirst: (count: number) =>
      `The first ${count} rows with faults. Correct more than these in the file.`,
    rowsWithFaults: 'Rows with faults',
    compare: 'Compare these with your system: something is odd, but they will be taken as they are.',
    compareFirst: (count: number) =>
      `The first ${count} of these. Compare these with your system: something is odd, but they will be taken as they are.`,
    doubtfulRows: 'Doubtful rows',
    row: 'Row',
    cellOf: (column: string, row: number) => `${column} of row ${row}`,
    otherwise: 'Otherwise',
    registerStep: '4. Register',
    correctedSinceCheck: 'Rows have been corrected. Check them again before they are registered.',
    checkCorrected: 'Check the corrected rows',
    willBeRegistered: ({ new: count, known, invalid, conflicts }: Summary, isInviting: boolean) =>
      `${counts.row(count)} will be registered at the provider${isInviting ? `, and the owners of ${counts.row(count + known)} get an invitation` : ''}.${invalid + conflicts === 0 ? '' : ` ${counts.row(invalid + conflicts)} with faults will be left out.`}`,
    register: (count: number) => `Register ${counts.row(count)}`,
    inviteKnown: (count: number) => `Invite the owners of ${counts.row(count)}`,
    uploaded: (count: number) =>
      `Uploaded: ${counts.row(count)}. The campaign registers them one after the other.`,
  },

  // ── Brands ──

  brands: {
    explanation:
      'How far invited owners come, and how long it takes until the installation is online, from the invitation and from the owner being done: half of them come online within the median, 95\u00a0% within the next column. An invitation with two brands counts for both. “Slow” takes at least twice as long from done to online as the middle one of the other rows, or as before; “few online” is at most half of theirs.',
    by: { brand: 'brand', day: 'day', campaign: 'campaign', week: 'week and brand' },
    titlesOf: { brand: 'Brand', day: 'Day', campaign: 'Campaign' },
    none: { brand: 'no brand', day: 'no day', campaign: 'no campaign' },
    groupedBy: 'By',
    days: { 7: '7 days', 30: '30 days', 90: '90 days', 365: 'a year' },
    invitedInLast: 'Invited in the last',
    label: (by: string) => `Funnel by ${by}`,
    nobodyInvited:
      'Nobody was invited in this time. What an app has started without an invitation is not counted.',
    nobodyInWeeks: (weeks: number) => `Nobody was invited in the last ${weeks} weeks.`,
    toOnlineP95: 'To online, 95\u00a0%',
    doneToOnlineMedian: 'Done to online, median',
    doneToOnlineP95: 'Done to online, 95\u00a0%',
    startsFailed: 'Starts failed',
    weekOf: 'Week of',
    onlineShare: 'Online, %',
    invitedBefore: 'Invited, week before',
    onlineShareBefore: 'Online, week before, %',
    startsFailedBefore: 'Starts failed, week before',
    was: (before: ReactNode) => say`(was\u00a0${before})`,
    slow: 'slow',
    fewOnline: 'few online',
    drift: 'Drift of the interface',
    driftExplanation: 'Responses of the remote service that differ from the description of its interface.',
    noDrift: 'All responses were as described.',
    difference: (kind: string, field: ReactNode, expected: string | null, found: string | null) =>
      say`${kind}: ${field}${ifAny(expected, (type) => `; expected ${type}`)}${ifAny(found, (type) => `; found ${type}`)}`,
  },

  // ── Webhooks ──

  webhooks: {
    create: 'Create an endpoint',
    created: (url: string) => `${url} gets what it subscribed to, from the next event on.`,
    secret: 'The secret that signs what the endpoint gets',
    endpoints: 'Endpoints',
    none: 'There is no endpoint. Apps may read the feed or the stream instead.',
    urlExample: 'https://crm.example.com/hooks',
    whoseApp: 'Whose app it is',
    types: 'Types of events',
    allTypes: 'All types, also future ones',
  },

  /** Why an endpoint gets nothing, or that it works. */
  silence: {
    words: { well: 'works', attention: 'fails', quiet: 'silent' },
    stalled: (why: string, waiting: number) => `${why}${waitingWords(waiting)}`,
    disabled: (waiting: number) => `Disabled by a person or an app.${waitingWords(waiting)}`,
    enableIfWanted: 'If it is wanted again, enable it. It continues with the event at which it stopped.',
    enable: 'Enable it',
    failing: (attempts: number, seconds: number | null, waiting: number) =>
      `Has failed${ifAny(seconds, (each) => ` for ${formatSeconds(each)}`)}: ${counts.attempt(attempts)} without success.${waitingWords(waiting)}`,
    askItsTeam:
      'Ask the team of its app about the last answer. What waits is sent again by itself, or at once with Redeliver.',
    behind: (waiting: number) => `Is behind:${waitingWords(waiting)}`,
    askForSpeed: 'Ask its app to respond sooner, and to do the work afterwards.',
    nothingYet: (types: number) =>
      `Has received nothing yet: no event that it wants has happened.${onlyWords(types)}`,
    works: (age: string, types: number) => `Works; last delivery ${age}.${onlyWords(types)}`,
  },

  endpoint: {
    nothingSent: 'No event has been sent to it yet. Test it.',
    lastAttempt: (status: ReactNode, age: ReactNode, attempts: ReactNode) =>
      say`${status} ${age} ${attempts}, to`,
    attempts: (count: number) => `(${counts.attempt(count)})`,
    earlierAttempts: 'Earlier attempts',
    gets: 'Gets',
    everyType: 'every type of event',
    ownHeaders: 'Own headers',
    headersOf: (names: readonly string[]) => `${names.join(', ')} (values are not shown)`,
    oldSecret: 'Old secret',
    signsUntil: (at: ReactNode) => say`signs, too, until ${at}`,
    tookTest: (status: number | null, ms: number) => `It took the test event: HTTP ${status} after ${ms} ms.`,
    didNotTakeTest: (why: string) => `It did not take the test event: ${why}.`,
    disabled: 'It is disabled. Events wait for it.',
    disableConsequence:
      'Nothing more is sent to it until it is enabled again. It then continues where it stopped.',
    enabled: 'It is enabled.',
    enableConsequence: (waiting: number) =>
      `It continues with the event at which it stopped; ${counts.event(waiting)} waiting.`,
    skipMissed: 'Skip what it has missed',
    willBeSent: (count: number) => `${counts.event(count)} will be sent again.`,
    eventsSince: 'Events since',
    inYourTimeZone: 'In your time zone',
    onlyGivenUp: 'Only what was given up',
    tooMany: 'There are more than 5,000 deliveries since then: choose a later time.',
    changed: 'It is changed.',
    rotateSecret: 'Rotate the secret',
    rotated: 'It has a new secret.',
    rotateConsequence:
      'The new secret is shown once. For 24 hours, the old one signs, too, so that its app can change over.',
    newSecret: 'The new secret',
    deleted: 'The endpoint is deleted.',
    deleteWarning: 'Its log and all that waits for it are deleted, too.',
  },

  success: {
    title: 'Success in the last 24 hours',
    nothing: 'Nothing was sent to it in the last 24 hours.',
    caption: (delivered: number, failed: number, isPart: boolean) =>
      `${isPart ? 'Of the newest' : 'Of'} ${counts.event(delivered + failed)}, ${formatNumber((100 * delivered) / (delivered + failed))} % are delivered. ${counts.event(failed)} failed at the last attempt.`,
    hour: (at: string, delivered: number, failed: number) =>
      `${at}: ${delivered} delivered, ${failed} failed`,
    dayAgo: '24 h ago',
    now: 'now',
  },

  deliveries: {
    title: 'Deliveries',
    outcomes: {
      tried: 'tried',
      retried: 'failed so far, is tried again',
      waiting: 'waits for its first attempt',
      failed: 'given up',
      delivered: 'delivered',
      any: 'any',
    },
    none: {
      tried: 'Nothing has been tried yet.',
      retried: 'No delivery fails.',
      waiting: 'No delivery waits.',
      failed: 'No delivery was given up.',
      delivered: 'Nothing has been delivered.',
      any: 'There is no delivery.',
    },
    eventTo: (event: string, address: string) => `${event} to ${address}`,
    attempts: (count: number, last: ReactNode, next: ReactNode) =>
      say`${counts.attempt(count)}${last && say`, the last ${last}`}${next && say`, the next ${next}`}`,
    isDue: 'is due',

    notStored: 'The event is no longer stored.',
    noAnswer: 'There was no answer.',
    noBody: 'The answer had no body.',
    noEarlierAttempt: 'There was no earlier attempt.',
    attempt: (status: string, age: ReactNode) => say`${status}, ${age}`,
    notShown: '(not shown)',
    willBeSent: 'it will be sent',
    sentAgain: 'It is sent again at once.',
  },

  // ── Keys ──

  keys: {
    create: 'Create a key',
    created: (name: string) => `The key “${name}” is created.`,
    titleOf: (name: string) => `The key “${name}”`,
    explanation:
      'Give each app and each person a key of its own, so that it can be revoked alone, and the audit log says who did what.',
    none: 'There is no key besides ADMIN_API_KEY.',
    createdBy: (name: string) => `by ${name}`,
    nameHint: 'Of the person or app that gets it',
    for: 'For',
    somethingElse: 'something else',
    adminWarning: 'The scope admin includes all others, and may create keys.',
    valid: 'valid',
    revoked: 'revoked',
    refusals: (revoked: number, scope: number, rate: number) =>
      [
        [revoked, 'after it was revoked'] as const,
        [scope, 'for lack of a scope'] as const,
        [rate, 'by its rate limit'] as const,
      ]
        .flatMap(([count, why]) => (count === 0 ? [] : [`${count} ${why}`]))
        .join(', '),
    lastRefusal: (age: ReactNode) => say`, last ${age}`,
    isRevoked: (name: string) => `The key “${name}” is revoked.`,
    named: (name: string) => say`Key ${createElement('strong', null, name)}`,
    revokeWarning: 'Requests with it are refused within 5 seconds. It cannot be made valid again.',
    presets: {
      helpdesk: 'the helpdesk',
      marketing: 'marketing',
      crm: 'a CRM',
      duty: 'the person on duty',
    },
    scopes: {
      'users:read': 'See customers, registrations and campaigns',
      'users:write': 'Register customers, upload campaigns',
      'users:erase': 'Erase customers for good',
      'registrations:decide': 'Decide registrations whose outcome is unknown, adopt customers',
      'onboarding:read': 'See sessions, invitations, inverters and the status',
      'onboarding:write': 'Invite owners, start sessions',
      'invitations:write': 'Invite one owner, copy one link, prolong and revoke',
      'links:read': 'See links, by which anybody acts as the owner',
      'events:read': 'Follow events; without it, the console reads every 10 seconds',
      'webhooks:manage': 'See and manage webhook endpoints and deliveries',
      'remote:call': 'Call the remote service, where SCS_PASS_THROUGH allows it',
      admin: 'Everything, with keys and the audit log',
    },
  },

  // ── Audit log ──

  audit: {
    explanation: 'Who has decided, revoked, erased or changed something.',
    noneMatches: 'No entry matches the filters.',
    none: 'Nothing is recorded yet.',
    anId: 'an id',
    administratorKey: 'administrator key',
    inConsole: (name: string) => `${name}, in the console`,
  },
};

function waitingWords(count: number): string {
  return count === 0 ? '' : ` ${counts.event(count)} waiting.`;
}

function onlyWords(types: number): string {
  return types === 0 ? '' : ` It only wants ${counts.type(types)} of events.`;
}
