import { Injectable } from '@nestjs/common';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

const HTTP_SECONDS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

interface Named<Label extends string> {
  /** Starts with `pv_`; ends with its unit, or with `_total` for a counter. */
  readonly name: string;
  readonly help: string;
  /** Few and bounded values: no id, reference, address or secret. */
  readonly labels?: readonly Label[];
}

/** The metrics of GET /metrics. One registry per application, since tests run several in one process. */
@Injectable()
export class Metrics {
  readonly registry = new Registry();
  readonly httpSeconds: Histogram<'method' | 'route' | 'status'>;

  constructor() {
    collectDefaultMetrics({ register: this.registry });
    this.httpSeconds = this.histogram({
      name: 'pv_http_request_seconds',
      help: 'Duration of HTTP requests to this service, by route pattern',
      labels: ['method', 'route', 'status'],
      buckets: HTTP_SECONDS,
    });
  }

  counter<Label extends string = never>({ name, help, labels = [] }: Named<Label>): Counter<Label> {
    return new Counter({ name, help, labelNames: labels, registers: [this.registry] });
  }

  /** With `collect`, the value is computed at each read of the metrics; an error in it fails that read. */
  gauge<Label extends string = never>({
    name,
    help,
    labels = [],
    collect,
  }: Named<Label> & { collect?: (gauge: Gauge<Label>) => void | Promise<void> }): Gauge<Label> {
    const gauge: Gauge<Label> = new Gauge({
      name,
      help,
      labelNames: labels,
      registers: [this.registry],
      ...(collect && { collect: () => collect(gauge) }),
    });
    return gauge;
  }

  histogram<Label extends string = never>({
    name,
    help,
    labels = [],
    buckets,
  }: Named<Label> & { buckets: number[] }): Histogram<Label> {
    return new Histogram({ name, help, labelNames: labels, buckets, registers: [this.registry] });
  }
}
