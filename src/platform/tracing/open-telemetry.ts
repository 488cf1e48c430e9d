import { readFileSync } from 'node:fs';
import { Logger } from '@nestjs/common';
import * as api from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { within } from '../async/within.js';
import { ConfigurationError } from '../env/configuration-error.js';
import type { Environment } from '../env/environment.js';
import { proxiedAgent } from '../http-client/proxied.js';
import { STOP_WITHIN_MS } from '../shutdown/limits.js';
import { VERSION, REPLICA_NAME } from '../build.js';
import { errorText } from '../redaction/error-text.js';
import { hideSecrets, otlpSecretsOf } from '../redaction/secrets.js';

export type OpenTelemetry = ReturnType<typeof openTelemetry>;

/** Opens a tracer that exports over OTLP/HTTP in batches. Spans beyond a full queue are dropped: they never delay the work. */
export function openTelemetry(environment: Environment) {
  // The SDK reads its variables from process.env alone, but ours may come from files or defaults.
  for (const [name, value] of Object.entries(environment))
    if (name.startsWith('OTEL_') && value !== undefined) process.env[name] = String(value);
  const { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: address, OTEL_EXPORTER_OTLP_TRACES_HEADERS: headers } =
    process.env;
  hideSecrets(otlpSecretsOf(address, headers));
  const instance = {
    'service.name': 'pv-onboarding',
    'service.version': VERSION,
    'service.instance.id': REPLICA_NAME,
  };
  const resource = defaultResource()
    .merge(resourceFromAttributes({ ...instance, 'pv_onboarding.role': environment.ROLE }))
    .merge(detectResources({ detectors: [envDetector] }));
  const endpoint = address || environment.OTEL_EXPORTER_OTLP_ENDPOINT!;
  if (!/^https?:\/\//i.test(endpoint) || !URL.canParse(endpoint))
    throw new ConfigurationError(
      ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT must be a URL that begins with http:// or https://'],
      [],
    );
  const url = new URL(endpoint);
  const tls = {
    ca: readFileOf('CERTIFICATE'),
    cert: readFileOf('CLIENT_CERTIFICATE'),
    key: readFileOf('CLIENT_KEY'),
  };
  const agent = proxiedAgent(url, environment, 'the collector of traces', tls);
  const exporter = new ReportingExporter({ httpAgentOptions: () => agent });
  const spanProcessors = [new BatchSpanProcessor(exporter)];
  const provider = new BasicTracerProvider({ resource, spanProcessors });
  return {
    api,
    tracer: provider.getTracer('pv-onboarding', VERSION),
    // The exporter has already logged the failure.
    stop: () =>
      within(
        STOP_WITHIN_MS.traces,
        provider.shutdown().catch(() => {}),
      ),
  };
}

/** Reads a file of TLS as the exporter would, which reads none for an agent that it is given. */
function readFileOf(name: string): Buffer | undefined {
  const path = process.env[`OTEL_EXPORTER_OTLP_TRACES_${name}`] || process.env[`OTEL_EXPORTER_OTLP_${name}`];
  if (!path) return undefined;
  try {
    return readFileSync(path);
  } catch (error) {
    // Traces are no reason not to start.
    new Logger('Tracing').warn(`OTEL_EXPORTER_OTLP_${name} cannot be read: ${errorText(error)}`);
    return undefined;
  }
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
