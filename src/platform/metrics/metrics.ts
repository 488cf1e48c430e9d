import { Injectable } from '@nestjs/common';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

interface Named<Name extends string, Label extends string> {
  /** Ends with its unit, a base unit such as seconds, or with `_total` for a counter. A name has one meaning and one unit. */
  readonly name: `pv_onboarding_${Name}`;
  readonly help: string;
  /** Each label must have few, bounded values: no id, reference, address or secret. */
  readonly labels?: readonly Label[];
}

/** The bounds of histogram buckets, in seconds. The fastest responses take a millisecond, and most timeouts are below 15 s. */
export const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** The metrics of GET /metrics. One registry per application, since tests run several in one process. docs/metrics.md lists all. */
@Injectable()
export class Metrics {
  readonly registry = new Registry();
  readonly httpRequests = this.counter({
    name: 'pv_onboarding_http_requests_total',
    help: 'HTTP requests to this process',
    labels: ['method', 'route', 'status'],
  });
  readonly httpSeconds = this.histogram({
    name: 'pv_onboarding_http_request_duration_seconds',
    help: 'Duration of HTTP requests to this process, without the time for which a request was held open',
    labels: ['method', 'route', 'status_class'],
  });
  readonly buildInfo = this.gauge({
    name: 'pv_onboarding_build_info',
    help: 'Always 1, with the version, the commit and the ROLE of this process',
    labels: ['version', 'commit', 'role'],
  });
  private text: Promise<string> | undefined;

  constructor() {
    collectDefaultMetrics({ register: this.registry });
  }

  read(): Promise<string> {
    // Concurrent requests share one collection, since collecting takes 4 ms and anybody can request it.
    this.text ??= this.registry.metrics().finally(() => (this.text = undefined));
    return this.text;
  }

  counter<Label extends string = never>(named: Named<`${string}_total`, Label>): Counter<Label> {
    return new Counter(this.options(named));
  }

  histogram<Label extends string = never>({
    buckets = BUCKETS,
    ...named
  }: Named<`${string}_seconds`, Label> & { buckets?: readonly number[] }): Histogram<Label> {
    return new Histogram({ ...this.options(named), buckets: [...buckets] });
  }

  /** With `collect`, the value is computed at each read of the metrics; an error in `collect` fails that read. */
  gauge<Label extends string = never>({
    collect,
    ...named
  }: Named<string, Label> & { collect?: (gauge: Gauge<Label>) => void | Promise<void> }): Gauge<Label> {
    const gauge: Gauge<Label> = new Gauge({
      ...this.options(named),
      ...(collect && { collect: () => collect(gauge) }),
    });
    return gauge;
  }

  private options<Label extends string>({ name, help, labels = [] }: Named<string, Label>) {
    return { name, help, labelNames: labels, registers: [this.registry] };
  }
}
