type Attributes = Readonly<Record<string, string | number>>;

/** A step of a trace. Names and attributes must not contain secrets: no body, URL or header, and no text or value of a statement. */
export interface NewSpan {
  /** One of few names, such as a route: ids are attributes. */
  readonly name: string;
  /** Default: `internal`. */
  readonly kind?: 'internal' | 'server' | 'client' | 'producer' | 'consumer';
  /** A `traceparent`. If null or invalid, the span begins a new trace. Default: the current span; without one, no span is made. */
  readonly parent?: string | null;
  /** The `traceparent` of spans in other traces that caused this span. */
  readonly links?: readonly string[];
  /** When the span began, by `performance.now()`. Default: now. */
  readonly beganAtMs?: number;
  readonly attributes?: Attributes;
}

export interface Span {
  /** The header with which another process continues the trace (W3C Trace Context). Undefined if no span was made. */
  readonly traceparent: string | undefined;
  set(attributes: Attributes): void;
  /** Marks the span as failed. `type`: one of few words, such as a status. */
  fail(type: string): void;
}

export interface SpanPosition {
  readonly traceId: string;
  readonly spanId: string;
}

/** The tracer that `traced` uses while traces are exported. */
export interface Tracer {
  run<T>(start: NewSpan, work: (span: Span) => T): T;
  exit<T>(work: () => T): T;
  currentSpan(): SpanPosition | undefined;
}

export const NO_SPAN: Span = { traceparent: undefined, set: () => {}, fail: () => {} };
