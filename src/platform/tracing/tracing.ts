import { AsyncLocalStorage } from 'node:async_hooks';
import type {
  Attributes,
  Context,
  Span as SdkSpan,
  SpanContext,
  SpanKind,
  SpanStatusCode,
} from '@opentelemetry/api';
import type { Environment } from '../env/environment.js';
import type { OpenTelemetry } from './open-telemetry.js';

/** A step of a trace. Names and attributes must not contain secrets: no body, URL or header, and no text or value of a statement. */
interface NewSpan {
  /** One of few names, such as a route. Ids belong in attributes. */
  readonly name: string;
  /** Default: `internal`. */
  readonly kind?: Lowercase<keyof typeof SpanKind>;
  /** A `traceparent`. If it is null or invalid, the span begins a new trace. Default: the current span. Without one, no span is made. */
  readonly parent?: string | null;
  /** The `traceparent` of spans in other traces that caused this span. */
  readonly links?: readonly string[];
  /** When the span began, by `performance.now()`. Default: now. */
  readonly beganAtMs?: number;
  readonly attributes?: Attributes;
}

interface Span {
  /** The header with which another process continues the trace (W3C Trace Context). Undefined if no span was made. */
  readonly traceparent: string | undefined;
  set(attributes: Attributes): void;
  /** Marks the span as failed. `type`: one of few words, such as a status. */
  fail(type: string): void;
}

const NO_SPAN: Span = { traceparent: undefined, set: () => {}, fail: () => {} };

/** Global, because stores, loops and the logger trace too. Undefined while traces are not exported. */
let telemetry: OpenTelemetry | undefined;
const current = new AsyncLocalStorage<SdkSpan>();

/** Runs `work` in a new span, which ends when `work` returns, or when the promise that it returns settles. */
export function traced<T>(start: NewSpan, work: (span: Span) => T): T {
  const parent = telemetry && parentOf(start, telemetry);
  if (telemetry === undefined || parent === undefined) return work(NO_SPAN);
  const { api, tracer } = telemetry;
  const { name, kind = 'internal', links = [], beganAtMs: startTime, attributes } = start;
  const causes = links.map(readTraceparent).flatMap((context) => (context === undefined ? [] : { context }));
  const options = { kind: api.SpanKind[kind.toUpperCase() as Uppercase<typeof kind>], links: causes };
  const span = tracer.startSpan(name, { ...options, attributes, startTime }, parent);
  return current.run(span, () => endAfter(span, api.SpanStatusCode.ERROR, work));
}

export const untraced = <T>(work: () => T): T => current.exit(work);

export function currentSpan(): { traceId: string; spanId: string } | undefined {
  const span = current.getStore()?.spanContext();
  return span && { traceId: span.traceId, spanId: span.spanId };
}

export const isTracing = (): boolean => telemetry !== undefined;

/**
 * Starts the export of traces if OTEL_EXPORTER_OTLP_ENDPOINT is set. Returns a function that exports the remaining spans and stops. Call it
 * before the application is created.
 */
export async function startTracing(environment: Environment): Promise<(() => Promise<void>) | undefined> {
  if (environment.OTEL_EXPORTER_OTLP_ENDPOINT === undefined) return undefined;
  // Imports OpenTelemetry only if needed, because loading it takes time and memory.
  const { openTelemetry } = await import('./open-telemetry.js');
  telemetry = openTelemetry(environment);
  return telemetry.stop;
}

/** Returns the context of the parent. Returns undefined if the span should have a parent, but there is none. */
function parentOf({ parent }: NewSpan, { api }: OpenTelemetry): Context | undefined {
  const { ROOT_CONTEXT, trace } = api;
  if (parent === undefined) {
    const span = current.getStore();
    return span && trace.setSpan(ROOT_CONTEXT, span);
  }
  const position = readTraceparent(parent);
  return position === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, position);
}

function endAfter<T>(span: SdkSpan, failed: SpanStatusCode, work: (span: Span) => T): T {
  const fail = (type: string): void => void span.setAttribute('error.type', type).setStatus({ code: failed });
  const end = (): void => span.end();
  const failWith = (error: unknown): void => {
    fail(typeOf(error));
    end();
  };
  try {
    const traceparent = formatTraceparent(span.spanContext());
    const result = work({ traceparent, set: (attributes) => void span.setAttributes(attributes), fail });
    if (result instanceof Promise) void result.then(end, failWith);
    else end();
    return result;
  } catch (error) {
    failWith(error);
    throw error;
  }
}

/** Returns the code of the error, such as a SQLSTATE or a problem's code, else its class. Its message may contain a secret. */
function typeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const { code, name } = error as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : name;
}

// An all-zero trace or parent id is invalid and must be ignored (W3C Trace Context, section 3.2.2).
const TRACEPARENT = /^[0-9a-e][0-9a-f]-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/;

/** Parses a `traceparent`. Returns undefined if the text is not valid. */
export function readTraceparent(text: unknown): SpanContext | undefined {
  const [, traceId, spanId, flags] = (typeof text === 'string' && TRACEPARENT.exec(text)) || [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
}

const formatTraceparent = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `00-${traceId}-${spanId}-0${traceFlags & 1}`;
