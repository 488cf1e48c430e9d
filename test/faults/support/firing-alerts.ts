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

/** Returns the samples of the metrics that an alert asks for. */
async function scrape(url: string, rules: string): Promise<Samples> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const samples = [...text.matchAll(/^(pv_onboarding_(\w+)(?:\{.*\})?) (\S+)$/gm)];
  return new Map(
    samples
      .filter(([, , name]) => rules.includes(`pv_onboarding_${name}`))
      .map(([, series = '', , value]) => [series, Number(value)]),
  );
}

/**
 * Returns the alerts of alerts.yml that fire after half an hour in which the gauges stay as they are now, and the counters grow as they do
 * now. Null without promtool. `before` runs before each scrape.
 */
export async function findFiringAlerts(url: string, before: () => void): Promise<string[] | null> {
  const promtool = findProgram('promtool', 'PROMTOOL');
  if (promtool === null) return null;
  const rules = await readFile(ALERTS, 'utf8');
  before();
  const first = await scrape(url, rules);
  await sleep(BETWEEN_SCRAPES_MS);
  before();
  const last = await scrape(url, rules);
  const series = [...last].map(([name, value]) => {
    const growth = name.includes('_total')
      ? ((value - (first.get(name) ?? 0)) * 60_000) / BETWEEN_SCRAPES_MS
      : 0;
    return { series: name, values: `${value}+${growth}x${MINUTES}` };
  });
  const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, alertname]) => ({
    eval_time: `${MINUTES}m`,
    alertname,
    exp_alerts: [],
  }));
  const up = { series: 'up{job="pv-onboarding",instance="a"}', values: `1x${MINUTES}` };
  const test = { interval: '1m', input_series: [up, ...series], alert_rule_test: alerts };
  const folder = await mkdtemp(join(tmpdir(), 'alerts-'));
  const file = join(folder, 'test.json');
  await writeFile(file, JSON.stringify({ rule_files: [ALERTS], evaluation_interval: '1m', tests: [test] }));
  const output = await new Promise<string>((resolve) =>
    execFile(promtool, ['test', 'rules', file], (_, stdout, stderr) => resolve(stdout + stderr)),
  );
  await rm(folder, { recursive: true });
  // An alert that fires differs from the expectation, that none fires.
  if (!/SUCCESS|FAILED/.test(output)) throw new Error(output);
  return [...output.matchAll(/alertname: (\w+), time/g)].map(([, alert]) => alert!);
}
