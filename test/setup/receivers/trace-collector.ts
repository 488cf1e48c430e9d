import { createServer } from 'node:http';
import { endServer, listen } from './servers.js';

/** A span as OTLP/HTTP in JSON carries it. */
export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status: { readonly code?: number };
}

interface Export {
  readonly resourceSpans: readonly {
    readonly resource: Pick<CollectedSpan, 'attributes'>;
    readonly scopeSpans: readonly { readonly spans: readonly CollectedSpan[] }[];
  }[];
}

export interface TraceCollector {
  readonly url: string;
  /** The bodies, as received. */
  readonly bodies: string[];
  readonly spans: CollectedSpan[];
  /** The attributes of the last resource. */
  resource: CollectedSpan['attributes'];
  /** The status of responses. Default: 200. */
  status: number;
  close(): Promise<void>;
}

/** Starts an OTLP/HTTP collector that accepts traces in JSON. */
export async function startTraceCollector(): Promise<TraceCollector> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const isTraces = request.url === '/v1/traces' && request.headers['content-type'] === 'application/json';
      const status = isTraces ? collector.status : 404;
      response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
      if (status !== 200) return;
      collector.bodies.push(body);
      for (const { resource, scopeSpans } of (JSON.parse(body) as Export).resourceSpans) {
        collector.resource = resource.attributes;
        collector.spans.push(...scopeSpans.flatMap(({ spans }) => spans));
      }
    });
  });
  const collector: TraceCollector = {
    url: `http://127.0.0.1:${await listen(server)}`,
    bodies: [],
    spans: [],
    resource: [],
    status: 200,
    close: () => endServer(server),
  };
  return collector;
}
