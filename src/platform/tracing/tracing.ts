import type { Environment } from '../env/environment.js';

type Attributes = Readonly<Record<string, string | number>>;

/** A step of a trace. Names and attributes must not contain secrets: no body, URL or header, and no text or value of a statement. */
export interface NewSpan {
  /** One of few names, such as a route: ids are attributes. */
  readonly name: string;
  /** Default: `internal`. */
  readonly kind?: 'internal' | 'server' | 'client' | 'producer' | 'consumer';
  /** A `traceparent`. If null or invalid, the span begins a new trace. Default: the current span; without one, no span is made. */
  readonly parent?: string | null | undefined;
  /** The `traceparent` of spans in other traces that caused this span. */
  readonly links?: readonly string[];
  /** When the span began, by `performance.now()`. Default: now. */
  readonly beganAtMs?: number;
  readonly attributes?: Attributes;
}

export interface Span {
  /** What continues the trace elsewhere (W3C Trace Context). Undefined if no span was made. */
  readonly traceparent: string | undefined;
  set(attributes: Attributes): void;
  /** Marks the span as failed. `type`: one of few words, such as a status. */
  fail(type: string): void;
}

/** What `traced` calls while traces are exported. */
export interface Tracer {
  run<T>(start: NewSpan, work: (span: Span) => T): T;
  exit<T>(work: () => T): T;
  currentTraceId(): string | undefined;
}

export const NO_SPAN: Span = { traceparent: undefined, set: () => {}, fail: () => {} };

/** Shared by the whole process, because stores, loops and the logger trace too. Undefined while traces are not exported. */
let tracer: Tracer | undefined;

/** Runs `work` in a new span, which ends when `work` returns, or when the promise that it returns settles. */
export const traced = <T>(start: NewSpan, work: (span: Span) => T): T =>
  tracer === undefined ? work(NO_SPAN) : tracer.run(start, work);

/** Runs `work` outside any span. */
export const untraced = <T>(work: () => T): T => (tracer === undefined ? work() : tracer.exit(work));

/** Returns the trace of the current span, for log lines. */
export function currentTrace(): { readonly traceId: string } | undefined {
  const traceId = tracer?.currentTraceId();
  return traceId === undefined ? undefined : { traceId };
}

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
