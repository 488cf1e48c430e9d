import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CHECKS, containerOf, type Project } from './kubernetes/checks.js';
import { parse, parseManifests, readManifests } from './kubernetes/manifests.js';
import { schemaFaultsOf } from './kubernetes/schema.js';
import { blockOf, readPage } from './readme.js';

const API = 'base/api.yaml';
const WORKER = 'base/worker.yaml';
const MIGRATION = 'base/migration.yaml';
const NETWORK = 'base/network-policy.yaml';
const MONITOR = 'base/service-monitor.yaml';
const BASE = 'base/kustomization.yaml';
const OVERLAY = 'overlays/example/kustomization.yaml';

/** A value for each key of the Secret. */
const SECRET: Readonly<Record<string, string>> = {
  DATABASE_URL: 'postgresql://user:password@pooler.example/pv',
  DATABASE_DIRECT_URL: 'postgresql://user:password@postgres.example/pv',
  SCS_BASE_URL: 'https://scs.example',
  SCS_API_KEY: 'api-key',
  SCS_CLIENT_ID: 'client',
  SCS_CLIENT_SECRET: 'client-secret',
  ADMIN_API_KEY: 'administrator-key-of-32-characters',
  ENCRYPTION_KEYS: Buffer.alloc(32, 'key of this spec').toString('base64'),
};

let files: ReadonlyMap<string, string>;
let project: Project;

beforeAll(async () => {
  files = await readManifests();
  const { paths } = JSON.parse(await readPage('openapi.json')) as { paths: object };
  project = {
    dockerfile: await readPage('Dockerfile'),
    paths: Object.keys(paths),
    metrics: await readPage('docs/metrics.md'),
    page: await readPage('docs/deployment.md'),
    secretFolder: await mkdtemp(join(tmpdir(), 'pv-secret-')),
  };
  for (const key of keysOfThePage()) await writeFile(join(project.secretFolder, key), `${SECRET[key]}\n`);
});
afterAll(() => rm(project.secretFolder, { recursive: true }));

const keysOfThePage = (): string[] =>
  blockOf(project.page, 'secret')
    .split('\n')
    .map((line) => line.split('=')[0]!);

/** Returns the files with one fault. */
function replaced(path: string, right: string | RegExp, wrong: string): ReadonlyMap<string, string> {
  const text = files.get(path)!.replace(right, wrong);
  if (text === files.get(path)) throw new Error(`${path} does not contain ${right}`);
  return new Map([...files, [path, text]]);
}

describe('ops/kubernetes', () => {
  it('runs the api, workers and a migration', () => {
    const { workloads } = parseManifests(files);
    expect(workloads.map((each) => containerOf(each).name).sort()).toEqual(['api', 'migration', 'worker']);
  });

  it('uses every key of the Secret that the page names', () => {
    const { settings } = parseManifests(files);
    const used = Object.keys(settings).filter((name) => name.endsWith('_FILE'));
    expect(used).toEqual(keysOfThePage().map((key) => `${key}_FILE`));
  });

  it('conforms to the schema of Kubernetes', () => {
    const { objects, ofKind } = parseManifests(files);
    expect(schemaFaultsOf(objects)).toEqual([]);
    // The only kind without a schema here. The checks below have its fields.
    expect(ofKind('ServiceMonitor')).toHaveLength(1);
  });

  it('the schema refuses unknown fields, missing fields and wrong types', () => {
    const seeds = [
      [
        'terminationGracePeriodSeconds: 15',
        'terminationGracePeriod: 15',
        '"terminationGracePeriod"\' does not',
      ],
      ["value: '5000'", 'value: 5000', "Type 'number' is not assignable to type 'string'"],
      ['  maxReplicas: 6\n', '', "Property 'maxReplicas' is missing"],
      ['kind: Service\n', 'kind: Serviec\n', "has no exported member 'Serviec'"],
      ['apps/v1', 'apps/v2', "Cannot find module 'kubernetes-types/apps/v2.js'"],
      ['[ALL]', 'ALL', "Type 'string' is not assignable to type 'string[]'"],
    ] as const;
    const objects = seeds.flatMap(([right, wrong]) => parse(replaced(API, right, wrong).get(API)!));
    expect(schemaFaultsOf(objects)).toEqual(seeds.map(([, , fault]) => expect.stringContaining(fault)));
  });

  it.each(Object.entries(CHECKS))('%s', (_, check) => {
    expect(check(parseManifests(files), project)).toEqual([]);
  });
});

describe('the deployment on docs/deployment.md', () => {
  /** Stands in for kubectl, in a cluster whose Job has the conditions of the first line of $CONDITIONS, then of the next. */
  const CLUSTER = `#!/bin/sh
echo "kubectl $*" >> "$CALLS"
case "$*" in
  *'get job'*) [ -s "$CONDITIONS" ] || exit 1; sed -n 1p "$CONDITIONS"; sed -i 1d "$CONDITIONS" ;;
esac`;

  /** Returns the exit code and the calls, without those that ask for the conditions. */
  async function deploy(...conditions: string[]) {
    const folder = await mkdtemp(join(tmpdir(), 'pv-kubectl-'));
    await writeFile(join(folder, 'kubectl'), CLUSTER, { mode: 0o755 });
    await writeFile(join(folder, 'sleep'), '#!/bin/sh\n', { mode: 0o755 });
    const [CALLS, CONDITIONS] = ['calls', 'conditions'].map((name) => join(folder, name));
    await writeFile(CONDITIONS!, conditions.map((each) => `${each}\n`).join(''));
    const shell = spawn('sh', ['-c', blockOf(project.page, 'deploy')], {
      env: { PATH: `${folder}:${process.env.PATH}`, CALLS, CONDITIONS },
      stdio: 'ignore',
    });
    const [code] = (await once(shell, 'exit')) as [number];
    const calls = (await readFile(CALLS!, 'utf8')).split('\n').filter((call) => !call.includes('get job'));
    await rm(folder, { recursive: true });
    return { code, calls };
  }

  it('starts the replicas once the Job is complete', async () => {
    const { code, calls } = await deploy('', '', 'SuccessCriteriaMet Complete');
    expect(code).toBe(0);
    expect(calls).toContain('kubectl apply -k overlays/mine');
  });

  it('ends with the log of the Job when it has failed, and starts no replica', async () => {
    const { code, calls } = await deploy('', 'FailureTarget', 'FailureTarget Failed');
    expect(code).not.toBe(0);
    expect(calls).toContainEqual(expect.stringContaining('logs job/pv-onboarding-migration'));
    expect(calls).not.toContain('kubectl apply -k overlays/mine');
  });
});

describe('the checks find', () => {
  const nameOf = (field: string, indent: number) =>
    new RegExp(`(?<=${field}:\\n {${indent}}app.kubernetes.io/name: )pv-onboarding`);

  it.each([
    [BASE, '  - network-policy.yaml\n', '', 'base/network-policy.yaml is not listed'],
    [BASE, 'api.yaml', 'server.yaml', 'base/server.yaml does not exist'],
    [OVERLAY, '../../base', '../base', 'overlays/base/kustomization.yaml does not exist'],
    [OVERLAY, 'name: pv-onboarding\n    behavior', 'name: pv\n    behavior', 'ConfigMap pv'],
    [API, 'image: pv-onboarding', 'image: pv', 'api: the overlay does not replace the image pv'],
    [API, /(?<=configMapRef:\n +name: )pv-onboarding/, 'pv', 'api: envFrom'],

    [BASE, '/DATABASE_URL\n', '/DATABASE\n', 'worker: DATABASE_URL_FILE cannot be read (ENOENT)'],
    [BASE, /.*ADMIN_API_KEY.*\n/, '', /^migration: ADMIN_API_KEY is required/],
    [OVERLAY, '=10.0.0.0/8', '=proxy', /^api: TRUSTED_PROXIES must be addresses/],
    [OVERLAY, 'TRUSTED_PROXIES', 'TRUSTED_PROXY', 'api: TRUSTED_PROXY is not a variable'],
    [
      MIGRATION,
      'secretName: pv-onboarding',
      'secretName: pv',
      'migration: DATABASE_URL_FILE cannot be read (ENOENT)',
    ],
    [WORKER, 'mountPath: /run', 'mountPath: /var/run', 'worker: DATABASE_URL_FILE cannot be read (ENOENT)'],

    [WORKER, 'value: worker', 'value: api', 'worker: ROLE'],
    [MIGRATION, 'migrate', 'rederive', 'the Job runs pv-onboarding rederive'],
    [MIGRATION, '[pv-onboarding,', '[pv,', 'the Job runs pv migrate'],

    [WORKER, /component: worker/g, 'component: api', 'pv-onboarding-worker selects others'],
    [MIGRATION, /component: migration/g, 'component: api', 'pv-onboarding-api selects others'],
    [WORKER, nameOf('selector', 4), 'pv', 'pv-onboarding-worker: Service'],
    [API, 'PodDisruptionBudget', 'Budget', 'pv-onboarding-api: PodDisruptionBudget'],
    [
      API,
      'kind: Deployment\n    name: pv',
      'kind: Job\n    name: pv',
      'pv-onboarding-api: HorizontalPodAutoscaler',
    ],
    [API, nameOf('matchLabels', 14), 'pv', 'pv-onboarding-api: topologySpreadConstraints'],

    [WORKER, /(?<=livenessProbe:\n +httpGet:\n +path: \/health\/)live/, 'ready', 'worker: livenessProbe'],
    [WORKER, '/health/ready', '/health/live', 'worker: readinessProbe'],
    [API, 'containerPort: 3000', 'containerPort: 8080', 'api: ports'],
    [API, '/health/live', '/health/started', 'api: path /health/started'],
    [API, 'startupProbe:', 'startProbe:', 'api: path undefined'],
    [API, 'port: http', 'port: web', 'api: probe of port web'],

    [
      NETWORK,
      /(?<=matchLabels:\n.*name: )pv-onboarding/,
      'pv',
      'no NetworkPolicy for pv-onboarding-migration',
    ],
    [NETWORK, 'port: 3000', 'port: 80', 'no ingress to 3000 and 9464 alone'],
    [NETWORK, 'port: 5432', 'port: 5433', 'egress to other ports'],
    [NETWORK, 'port: 4318', 'port: 4317', 'egress to other ports'],
    [MIGRATION, '  activeDeadlineSeconds: 3600\n', '', 'migration: activeDeadlineSeconds'],
    [MIGRATION, 'backoffLimit: 3', 'backoffLimit: 6', 'migration: backoffLimit'],
    [NETWORK, 'port: 9464', 'port: 9465', 'no ingress to 3000 and 9464 alone'],
    [API, 'targetPort: http', 'targetPort: web', 'pv-onboarding-api: ports'],
    [WORKER, 'targetPort: metrics', 'targetPort: http', 'pv-onboarding-worker: ports'],
    [BASE, 'METRICS_PORT=9464', 'METRICS_PORT=9465', 'worker: ports'],
    [MONITOR, /(?<=matchLabels:\n.*name: )pv-onboarding/, 'pv', 'no ServiceMonitor for pv-onboarding-worker'],
    [MONITOR, 'kind: ServiceMonitor', 'kind: Monitor', 'ServiceMonitor: apiVersion'],
    [MONITOR, '  endpoints:', '  interval: 5s\n  endpoints:', 'ServiceMonitor: fields'],
    [MONITOR, 'matchLabels', 'labels', 'ServiceMonitor: selector'],
    [MONITOR, 'path: /metrics', 'path: /metric', 'ServiceMonitor: endpoints'],
    [MONITOR, 'port: metrics', 'port: http', 'ServiceMonitor: endpoints'],

    [API, 'PeriodSeconds: 15', 'PeriodSeconds: 9', 'api: killed after 9000 ms'],
    [WORKER, 'PeriodSeconds: 10', 'PeriodSeconds: 4', 'worker: killed after 4000 ms'],
    [API, "value: '5000'", "value: '1000'", 'api: SHUTDOWN_DELAY_MS'],
    [WORKER, "value: '0'", "value: '6000'", 'worker: killed after 10000 ms'],

    [API, 'Token: false', 'Token: true', 'api: automountServiceAccountToken'],
    [API, '      containers:', '      containers:\n        - name: proxy', 'proxy: containers'],
    [MIGRATION, 'runAsNonRoot: true', 'runAsNonRoot: false', 'migration: securityContext of the pod'],
    [WORKER, 'readOnlyRootFilesystem: true', 'readOnlyRootFilesystem: false', 'worker: securityContext'],
    [API, 'requests:', 'request:', 'api: requests'],
    [API, 'limits:', 'limit:', 'api: limits'],

    [WORKER, 'name: pv_onboarding_deployment_lateness_seconds', 'name: lateness', 'no metric lateness'],
    [WORKER, 'maxReplicas: 4', 'maxReplicas: 8', 'up to 256 connections'],
  ])('in %s, %s written as %j', (path, right, wrong, fault) => {
    const manifests = parseManifests(replaced(path, right, wrong));
    const found = Object.values(CHECKS).flatMap((check) => check(manifests, project));
    expect(found).toContainEqual(typeof fault === 'string' ? fault : expect.stringMatching(fault));
  });
});
