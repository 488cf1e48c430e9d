import { AsyncLocalStorage } from 'node:async_hooks';
import { Logger } from '@nestjs/common';
import {
  ROOT_CONTEXT,
  type Context,
  type Span as SdkSpan,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer as SdkTracer,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { within } from '../../platform/async/within.js';
import type { Environment } from '../../platform/env/environment.js';
import { errorText } from '../redaction/error-text.js';
import { REPLICA_NAME } from '../../platform/replica-name.js';
import { STOP_WITHIN_MS } from '../../platform/shutdown/limits.js';
import { VERSION } from '../../platform/version.js';
import { NO_SPAN, type NewSpan, type Span, type Tracer } from './span.js';
import { formatTraceparent, readTraceparent } from './traceparent.js';

// Only tracing.ts imports this file, and only if traces are exported: loading OpenTelemetry takes time and memory.

/** Opens a tracer that exports over OTLP/HTTP in batches. Spans beyond a full queue are dropped: they never delay the work. */
export function openTracer(environment: Environment): { tracer: Tracer; stop: () => Promise<void> } {
  // The SDK reads its variables from process.env alone, but ours may come from files or defaults.
  for (const [name, value] of Object.entries(environment))
    if (name.startsWith('OTEL_') && value !== undefined) process.env[name] = String(value);
  const instance = {
    'service.name': 'pv-onboarding',
    'service.version': VERSION,
    'service.instance.id': REPLICA_NAME,
  };
  const resource = defaultResource()
    .merge(resourceFromAttributes({ ...instance, 'pv_onboarding.role': environment.ROLE }))
    .merge(detectResources({ detectors: [envDetector] }));
  const spanProcessors = [new BatchSpanProcessor(new ReportingExporter())];
  const provider = new BasicTracerProvider({ resource, spanProcessors });
  return {
    tracer: tracerOf(provider.getTracer('pv-onboarding', VERSION)),
    stop: () =>
      within(
        STOP_WITHIN_MS.traces,
        // The exporter has logged a failure.
        provider.shutdown().catch(() => {}),
      ),
  };
}

/** Logs when the collector stops and starts to accept spans. */
class ReportingExporter extends OTLPTraceExporter {
  private readonly logger = new Logger('Tracing');
  private isFailing = false;

  override export(...[spans, done]: Parameters<OTLPTraceExporter['export']>): void {
    super.export(spans, (result) => {
      const { error } = result;
      if (error !== undefined && !this.isFailing)
        this.logger.warn(`the collector accepts no traces: ${errorText(error)}`);
      if (error === undefined && this.isFailing) this.logger.log('the collector accepts traces again');
      this.isFailing = error !== undefined;
      done(result);
    });
  }
}

function tracerOf(sdk: SdkTracer): Tracer {
  const current = new AsyncLocalStorage<SdkSpan>();
  return {
    run: (start, work) => {
      const { name, kind = 'internal', links = [], beganAtMs: startTime, attributes } = start;
      const parent = parentOf(start, current.getStore());
      if (parent === undefined) return work(NO_SPAN);
      const sdkKind = SpanKind[kind.toUpperCase() as Uppercase<typeof kind>];
      const positions = links.map(positionOf).filter((position) => position !== undefined);
      const causes = positions.map((context) => ({ context }));
      const options = { kind: sdkKind, links: causes, attributes, startTime };
      const span = sdk.startSpan(name, options, parent);
      return current.run(span, () => endAfter(span, work));
    },
    exit: (work) => current.exit(work),
    currentSpan: () => {
      const span = current.getStore()?.spanContext();
      return span && { traceId: span.traceId, spanId: span.spanId };
    },
  };
}

/** Returns undefined if the span should have a parent, but there is none. */
function parentOf({ parent }: NewSpan, current: SdkSpan | undefined): Context | undefined {
  if (parent === undefined) return current && trace.setSpan(ROOT_CONTEXT, current);
  const position = positionOf(parent);
  return position === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, position);
}

const spanOf = (sdk: SdkSpan): Span => ({
  traceparent: formatTraceparent(sdk.spanContext()),
  set: (attributes) => void sdk.setAttributes(attributes),
  fail: (type) => void sdk.setAttribute('error.type', type).setStatus({ code: SpanStatusCode.ERROR }),
});

function endAfter<T>(sdk: SdkSpan, work: (span: Span) => T): T {
  const span = spanOf(sdk);
  const end = (): void => sdk.end();
  const fail = (error: unknown): void => {
    span.fail(typeOf(error));
    end();
  };
  try {
    const result = work(span);
    if (result instanceof Promise) void result.then(end, fail);
    else end();
    return result;
  } catch (error) {
    fail(error);
    throw error;
  }
}

/** Returns the code of the error, such as a SQLSTATE or the code of a problem, or its class. Its message may contain a secret. */
function typeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const { code, name } = error as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : name;
}

function positionOf(traceparent: string | null): SpanContext | undefined {
  const position = readTraceparent(traceparent);
  return position && { ...position, isRemote: true };
}
