import type { Environment } from '../../platform/env/environment.js';
import { NO_SPAN, type NewSpan, type Span, type SpanPosition, type Tracer } from './span.js';

/** Shared by the whole process, because stores, loops and the logger trace too. Undefined while traces are not exported. */
let tracer: Tracer | undefined;

/** Runs `work` in a new span, which ends when `work` returns, or when the promise that it returns settles. */
export const traced = <T>(start: NewSpan, work: (span: Span) => T): T =>
  tracer === undefined ? work(NO_SPAN) : tracer.run(start, work);

/** Runs `work` outside any span. */
export const untraced = <T>(work: () => T): T => (tracer === undefined ? work() : tracer.exit(work));

/** Returns the current span, for log lines. */
export const currentSpan = (): SpanPosition | undefined => tracer?.currentSpan();

export const isTracing = (): boolean => tracer !== undefined;

/**
 * Starts the export of traces if OTEL_EXPORTER_OTLP_ENDPOINT is set; otherwise, loads nothing. Returns a function that exports the rest and
 * stops. Call it before the application is created.
 */
export async function startTracing(environment: Environment): Promise<(() => Promise<void>) | undefined> {
  if (environment.OTEL_EXPORTER_OTLP_ENDPOINT === undefined) return undefined;
  const { openTracer } = await import('./open-telemetry.js');
  const opened = openTracer(environment);
  tracer = opened.tracer;
  return opened.stop;
}
