import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { findProgram } from '../../setup/receivers/programs.js';

const fileOf = (path: string) => fileURLToPath(new URL(`../../../ops/${path}`, import.meta.url));
const ALERTS = fileOf('prometheus/alerts.yml');
const DASHBOARD = fileOf('grafana/pv-onboarding.json');
const PANEL = 'a panel';
const BETWEEN_SCRAPES_MS = 1_500;
const MINUTES = 30;

type Samples = ReadonlyMap<string, number>;

/** What a series of a panel shows: `title: legend > value`. */
export type Reading = `${string}: ${string} ${'>' | '=='} ${number}`;

interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
  }[];
}

/** Returns the samples of our metrics, with the label that Prometheus adds. */
export async function scrape(url: string, instance = 'a'): Promise<Samples> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const samples = [...text.matchAll(/^(pv_onboarding_\w+)(?:\{(.*)\})? (\S+)$/gm)];
  return new Map(
    samples.map(([, name, labels = '', value]) => [
      `${name}{instance="${instance}",${labels}}`,
      Number(value),
    ]),
  );
}

/** Returns the samples of several processes. The first is the instance `a`. */
async function scrapeAll(urls: readonly string[]): Promise<Samples> {
  const all = await Promise.all(urls.map((url, n) => scrape(url, String.fromCharCode(97 + n))));
  return new Map(all.flatMap((samples) => [...samples]));
}

/** Returns rules that raise the alert PANEL, with the reading in its label, for each of the readings that the dashboard shows. */
async function rulesFor(readings: readonly Reading[]) {
  const { panels } = JSON.parse(await readFile(DASHBOARD, 'utf8')) as Dashboard;
  return readings.flatMap((reading) => {
    const [, title, comparison] = /^(.+?): .+ (\S+ \S+)$/.exec(reading)!;
    const { targets = [] } = panels.find((panel) => panel.title === title) ?? {};
    return targets.map(({ expr, legendFormat }) => {
      const legend = legendFormat.replace(/\{\{(\w+)\}\}/g, '{{ $labels.$1 }}');
      return {
        alert: PANEL,
        expr: `(${expr.replaceAll('$__rate_interval', '5m')}) ${comparison}`,
        labels: { reading: `${title}: ${legend} ${comparison}` },
      };
    });
  });
}

/**
 * Returns the alerts of alerts.yml that fire, and those of `readings` that the dashboard shows, after half an hour in which the gauges, which
 * were as in `earlier` at its start, stay as they are now, and the counters grow as they do now. Null without promtool. `refresh` runs before
 * each scrape.
 */
export async function evaluate(
  urls: readonly string[],
  earlier: Samples,
  readings: readonly Reading[],
  refresh: () => void,
): Promise<{ firing: string[]; shown: Reading[] } | null> {
  const promtool = findProgram('promtool', 'PROMTOOL');
  if (promtool === null) return null;
  refresh();
  const first = await scrapeAll(urls);
  await sleep(BETWEEN_SCRAPES_MS);
  refresh();
  const last = await scrapeAll(urls);
  const series = [...last].map(([name, value]) => {
    const isCounter = /_(total|count|sum|bucket)\{/.test(name);
    const growth = isCounter ? ((value - (first.get(name) ?? 0)) * 60_000) / BETWEEN_SCRAPES_MS : 0;
    const start = isCounter ? value : (earlier.get(name) ?? '_');
    return { series: name, values: `${start} ${value + growth}+${growth}x${MINUTES}` };
  });
  const names = [...(await readFile(ALERTS, 'utf8')).matchAll(/- alert: (\w+)/g)].map(([, name]) => name);
  const expected = [...names, PANEL].map((alertname) => ({
    eval_time: `${MINUTES}m`,
    alertname,
    exp_alerts: [],
  }));
  const up = { series: 'up{job="pv-onboarding",instance="a"}', values: `1x${MINUTES}` };
  const test = { interval: '1m', input_series: [up, ...series], alert_rule_test: expected };
  const folder = await mkdtemp(join(tmpdir(), 'alerts-'));
  const [panels, file] = [join(folder, 'panels.json'), join(folder, 'test.json')];
  await writeFile(panels, JSON.stringify({ groups: [{ name: 'panels', rules: await rulesFor(readings) }] }));
  await writeFile(
    file,
    JSON.stringify({ rule_files: [ALERTS, panels], evaluation_interval: '1m', tests: [test] }),
  );
  const output = await new Promise<string>((resolve) =>
    execFile(promtool, ['test', 'rules', file], (_, stdout, stderr) => resolve(stdout + stderr)),
  );
  await rm(folder, { recursive: true });
  // An alert that fires differs from the expectation, that none fires.
  if (!/SUCCESS|FAILED/.test(output)) throw new Error(output);
  return {
    firing: [...output.matchAll(/alertname: (\w+), time/g)].map(([, alert]) => alert!),
    // A panel has other series, too.
    shown: readings.filter((reading) => output.includes(` reading="${reading}"`)),
  };
}
