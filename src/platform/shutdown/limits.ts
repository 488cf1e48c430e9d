/** How long the whole process and the parts of the platform may take to stop. Every other part declares its own limit by `stopsWithin`. */
export const STOP_WITHIN_MS = {
  /** The whole process. After this time, it exits with code 1, before an orchestrator kills it (Docker: after 10 s). */
  process: 4_800,
  /** Requests in flight. After this time, their connections are closed, so that the later steps have time to stop in order. */
  requests: 3_000,
  /**
   * The patience with writes of outcomes that the database refuses, such as the response to a registration. After this time, each is tried
   * once more, and if it is refused, that is written instead.
   */
  patience: 2_000,
  /** The writes of outcomes that still run when the database is to be closed, after `requests`. */
  outcomes: 500,
  listener: 500,
  /** Exporting the last spans, after the application has stopped. Spans that are not exported by then are lost. */
  traces: 500,
} as const;

/** Declares how long a part may take to stop. The parts stop in parallel, and other replicas do the unfinished work. */
export function stopsWithin(ms: number): number {
  if (ms >= STOP_WITHIN_MS.process) throw new RangeError(`a process that stops does not wait ${ms} ms`);
  return ms;
}
