import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { findProgram } from '../../setup/receivers/programs.js';

const ALERTS = fileURLToPath(new URL('../../../ops/prometheus/alerts.yml', import.meta.url));
const BETWEEN_SCRAPES_MS = 1_500;
const MINUTES = 30;

type Samples = ReadonlyMap<string, number>;

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

/**
 * Returns the alerts of alerts.yml that fire after half an hour. At its start, gauges have the values of `earlier`; afterwards, they keep
 * their current values. Counters grow at their current rate. Null without promtool. `refresh` runs before each scrape.
 */
export async function evaluate(
  urls: readonly string[],
  earlier: Samples,
  refresh: () => void,
): Promise<string[] | null> {
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
  const expected = names.map((alertname) => ({
    eval_time: `${MINUTES}m`,
    alertname,
    exp_alerts: [],
  }));
  const up = { series: 'up{job="pv-onboarding",instance="a"}', values: `1x${MINUTES}` };
  const test = { interval: '1m', input_series: [up, ...series], alert_rule_test: expected };
  const folder = await mkdtemp(join(tmpdir(), 'alerts-'));
  const file = join(folder, 'test.json');
  await writeFile(file, JSON.stringify({ rule_files: [ALERTS], evaluation_interval: '1m', tests: [test] }));
  const output = await new Promise<string>((resolve) =>
    execFile(promtool, ['test', 'rules', file], (_, stdout, stderr) => resolve(stdout + stderr)),
  );
  await rm(folder, { recursive: true });
  // The test expects that no alert fires, so its output names the alerts that do.
  if (!/SUCCESS|FAILED/.test(output)) throw new Error(output);
  return [...output.matchAll(/alertname: (\w+), time/g)].map(([, alert]) => alert!);
}
