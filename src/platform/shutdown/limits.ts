/** How long each part may take to stop. The parts of the application stop in parallel. Other replicas do the unfinished work. */
export const STOP_WITHIN_MS = {
  /** The whole process. After this time, it exits with code 1, before an orchestrator kills it (Docker: after 10 s). */
  process: 4_800,
  /** Requests in flight. After this time, their connections are closed, so that the later steps have time to stop in order. */
  requests: 3_000,
  /** The delivery of events. Afterwards, other workers claim the endpoints. */
  deliveries: 3_000,
  /** Calls of handlers, a part of `deliveries`. After this time, they continue, are not recorded, and are repeated later. */
  handlers: 2_000,
  /** Webhook requests in flight, a part of `deliveries`. After this time, they are aborted, not recorded, and sent again later. */
  webhooks: 1_000,
  /** Waits for a token. They end early enough that the calls which need the token are recorded as `not_sent`. */
  token: 1_500,
  /** Remote calls that register users. If they take longer, their leases expire, and the registrations become `uncertain`. */
  registrations: 3_000,
  abandonedStarts: 1_000,
  invitations: 1_000,
  campaigns: 1_000,
  stalls: 500,
  sampler: 500,
  budget: 500,
  habits: 500,
  /** Reads of sessions in flight. After this time, they are aborted. */
  reads: 2_000,
  /** Writing the results of the reads, after `reads`. */
  readResults: 1_000,
  streams: 2_000,
  callers: 500,
  broker: 3_000,
  /** Writing what this replica has learned of the remote service, after all calls have ended. */
  sharedState: 1_000,
  /**
   * The patience with writes of outcomes that the database refuses, such as the response to a registration. After this time, each is tried
   * once more, and if it is refused, that is written instead.
   */
  patience: 2_000,
  /** The writes of outcomes that still run when the database is to be closed, after `requests`. */
  outcomes: 500,
  signOfLife: 1_000,
  listener: 500,
  /** Writing how many requests were refused. */
  refusals: 500,
  /** Exporting the last spans, after the application has stopped. Spans that are not exported by then are lost. */
  traces: 500,
} as const;
