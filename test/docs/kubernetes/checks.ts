import { posix } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { readFiles } from '../../../src/platform/env/environment-files.js';
import { Environment } from '../../../src/platform/env/environment.js';
import { ENVIRONMENT_NAMES } from '../../../src/platform/env/environment-names.js';
import { ConfigurationError, readEnvironment } from '../../../src/platform/env/read-environment.js';
import { STOP_WITHIN_MS } from '../../../src/platform/shutdown/limits.js';
import { variablesIn, type Container, type Labels, type Manifest, type Manifests } from './manifests.js';

/** Documents and code that the manifests must agree with. */
export interface Project {
  readonly dockerfile: string;
  /** The paths of the API. */
  readonly paths: readonly string[];
  /** docs/metrics.md, which test/docs/alerts.spec.ts compares with the service. */
  readonly metrics: string;
  /** docs/deployment.md */
  readonly page: string;
  /** Stands in for the mounted Secret: a file for each of its keys. */
  readonly secretFolder: string;
}

/** Returns a line for each fault. */
export type Check = (manifests: Manifests, project: Project) => string[];

const RIGHTS_OF_POD = {
  runAsNonRoot: true,
  runAsUser: 1000,
  runAsGroup: 1000,
  seccompProfile: { type: 'RuntimeDefault' },
};
const RIGHTS_OF_CONTAINER = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};

const unless = (isRight: unknown, fault: string): string[] => (isRight ? [] : [fault]);

const selects = (selector: Labels = {}, labels: Labels = {}): boolean =>
  Object.keys(selector).length > 0 && Object.entries(selector).every(([key, value]) => labels[key] === value);
const podOf = ({ spec }: Manifest) => spec!.template!.spec;
const labelsOf = ({ spec }: Manifest) => spec!.template!.metadata.labels;
export const containerOf = (workload: Manifest): Container => podOf(workload).containers[0]!;

const ofImage = ({ dockerfile }: Project) => variablesIn(/^ENV (.+)$/m.exec(dockerfile)![1]!.split(' '));
const ofContainer = ({ settings }: Manifests, { env = [] }: Container): Record<string, string> => ({
  ...settings,
  ...Object.fromEntries(env.map(({ name, value }) => [name, value])),
});

/** Returns why production refuses these variables. */
function refusals(source: Record<string, string>): readonly string[] {
  try {
    const { variables, problems } = readFiles(source);
    readEnvironment(variables, problems);
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
}

export const CHECKS: Readonly<Record<string, Check>> = {
  'the kustomizations list every file and name what the objects use': ({ base, overlay, ...manifests }) => {
    const listed = [
      'overlays/example/kustomization.yaml',
      ...overlay.resources.map((path) => posix.join('overlays/example', path, 'kustomization.yaml')),
      ...base.resources.map((path) => posix.join('base', path)),
    ];
    return [
      ...manifests.paths.flatMap((path) => unless(listed.includes(path), `${path} is not listed`)),
      ...listed.flatMap((path) => unless(manifests.paths.includes(path), `${path} does not exist`)),
      ...manifests.generators.flatMap(({ name }) => unless(name === 'pv-onboarding', `ConfigMap ${name}`)),
      ...manifests.workloads.map(containerOf).flatMap(({ name, image, envFrom }) => [
        ...unless(
          overlay.images!.some((each) => each.name === image),
          `${name}: the overlay does not replace the image ${image}`,
        ),
        ...unless(
          isDeepStrictEqual(envFrom, [{ configMapRef: { name: 'pv-onboarding' } }]),
          `${name}: envFrom`,
        ),
      ]),
    ];
  },

  'production accepts the environment of each container': (manifests, project) =>
    manifests.workloads.flatMap((workload) => {
      const container = containerOf(workload);
      const variables = ofContainer(manifests, container);
      const unknown = Object.keys(variables).filter(
        (name) => !ENVIRONMENT_NAMES.includes(name.replace(/_FILE$/, '')),
      );
      const mount = container.volumeMounts?.[0];
      const volume = podOf(workload).volumes?.find(({ name }) => name === mount?.name);
      const isMounted = volume?.secret?.secretName === 'pv-onboarding';
      const mounted = Object.entries(variables).map(([name, value]) => [
        name,
        name.endsWith('_FILE') && isMounted ? value.replace(mount!.mountPath, project.secretFolder) : value,
      ]);
      return [
        ...unknown.map((name) => `${container.name}: ${name} is not a variable`),
        ...refusals({ ...ofImage(project), ...Object.fromEntries(mounted) }).map(
          (problem) => `${container.name}: ${problem}`,
        ),
      ];
    }),

  'each process has its role, and the Job its command': ({ deployments, ofKind }, { dockerfile }) => [
    ...deployments
      .map(containerOf)
      .flatMap(({ name, env }) =>
        unless(isDeepStrictEqual(env?.[0], { name: 'ROLE', value: name }), `${name}: ROLE`),
      ),
    ...ofKind('Job').flatMap((job) => {
      const [program, ...command] = containerOf(job).command ?? [];
      const isInImage = dockerfile.includes(` /usr/local/bin/${program} `);
      return unless(
        isInImage && isDeepStrictEqual(command, ['migrate']),
        `the Job runs ${program} ${command.join(' ')}`,
      );
    }),
  ],

  'each Deployment selects its own pods only': ({ workloads, deployments }) =>
    deployments.flatMap((deployment) => {
      const { matchLabels } = deployment.spec!.selector!;
      const selected = workloads.filter((each) => selects(matchLabels, labelsOf(each)));
      return unless(
        selected.length === 1 && selected[0] === deployment,
        `${deployment.metadata!.name} selects others`,
      );
    }),

  'each Deployment has its Service, its disruption budget, its autoscaler and its spread': ({
    deployments,
    ofKind,
  }) =>
    deployments.flatMap((deployment) => {
      const { name } = deployment.metadata!;
      const isOwn = (selector?: Labels) => selects(selector, labelsOf(deployment));
      const services = ofKind('Service').filter(({ spec }) => isOwn(spec!.selector));
      const budgets = ofKind('PodDisruptionBudget').filter(({ spec }) => isOwn(spec!.selector!.matchLabels));
      const scalers = ofKind('HorizontalPodAutoscaler').filter(({ spec }) =>
        isDeepStrictEqual(spec!.scaleTargetRef, { apiVersion: 'apps/v1', kind: 'Deployment', name }),
      );
      const spread = podOf(deployment).topologySpreadConstraints?.[0]?.labelSelector.matchLabels;
      return [
        ...unless(services.length === 1, `${name}: Service`),
        ...unless(budgets.length === 1, `${name}: PodDisruptionBudget`),
        ...unless(scalers.length === 1, `${name}: HorizontalPodAutoscaler`),
        ...unless(isOwn(spread), `${name}: topologySpreadConstraints`),
      ];
    }),

  'the probes are those of the service': ({ deployments, settings }, project) =>
    deployments.map(containerOf).flatMap(({ name, ports, ...container }) => {
      const { startupProbe, livenessProbe, readinessProbe } = container;
      const probes = [startupProbe, livenessProbe, readinessProbe].map((probe) => probe?.httpGet);
      return [
        // An unavailable database must make replicas unready, but must not restart them.
        ...unless(livenessProbe?.httpGet.path === '/health/live', `${name}: livenessProbe`),
        ...unless(readinessProbe?.httpGet.path === '/health/ready', `${name}: readinessProbe`),
        ...unless(
          isDeepStrictEqual(ports, [
            { name: 'http', containerPort: Number(ofImage(project).PORT) },
            { name: 'metrics', containerPort: Number(settings.METRICS_PORT) },
          ]),
          `${name}: ports`,
        ),
        ...probes.flatMap((probe) => [
          ...unless(
            probe !== undefined && project.paths.includes(probe.path),
            `${name}: path ${probe?.path}`,
          ),
          ...unless(probe?.port === 'http', `${name}: probe of port ${probe?.port}`),
        ]),
      ];
    }),

  'every pod can be reached at its ports, and is monitored': ({ ofKind, settings, workloads }, project) => {
    const services = ofKind('Service');
    const [policy, ...otherPolicies] = ofKind('NetworkPolicy').map(({ spec }) => spec!);
    const [monitor, ...otherMonitors] = ofKind('ServiceMonitor');
    const port = Number(ofImage(project).PORT);
    const metricsPort = Number(settings.METRICS_PORT);
    return [
      ...unless(
        otherPolicies.length + otherMonitors.length === 0,
        'one NetworkPolicy and one ServiceMonitor',
      ),
      ...workloads.flatMap((workload) =>
        unless(
          selects(policy?.podSelector?.matchLabels, labelsOf(workload)),
          `no NetworkPolicy for ${workload.metadata!.name}`,
        ),
      ),
      ...unless(
        isDeepStrictEqual(policy?.ingress, [{ ports: [{ port }] }, { ports: [{ port: metricsPort }] }]),
        `no ingress to ${port} and ${metricsPort} alone`,
      ),
      ...unless(
        isDeepStrictEqual(
          policy?.egress?.flatMap(({ ports }) => ports.map((each) => each.port)),
          [53, 53, 5432, 443, 4222, 4318],
        ),
        'egress to other ports',
      ),
      ...services.flatMap(({ metadata, spec }) => [
        ...unless(
          isDeepStrictEqual(spec!.ports, [
            { name: 'http', port, targetPort: 'http' },
            { name: 'metrics', port: metricsPort, targetPort: 'metrics' },
          ]),
          `${metadata!.name}: ports`,
        ),
        ...unless(
          selects(monitor?.spec?.selector?.matchLabels, metadata!.labels),
          `no ServiceMonitor for ${metadata!.name}`,
        ),
      ]),
      // kubernetes-types has no custom resources. These are the fields of the definition of ServiceMonitor.
      ...unless(monitor?.apiVersion === 'monitoring.coreos.com/v1', 'ServiceMonitor: apiVersion'),
      ...unless(
        isDeepStrictEqual(Object.keys(monitor?.spec ?? {}).sort(), ['endpoints', 'selector']),
        'ServiceMonitor: fields',
      ),
      ...unless(
        isDeepStrictEqual(Object.keys(monitor?.spec?.selector ?? {}), ['matchLabels']),
        'ServiceMonitor: selector',
      ),
      ...unless(
        isDeepStrictEqual(monitor?.spec?.endpoints, [{ port: 'metrics', path: '/metrics' }]),
        'ServiceMonitor: endpoints',
      ),
      ...unless(project.paths.includes('/metrics'), 'the service has no /metrics'),
    ];
  },

  'a stopping process has the time that it needs': (manifests) =>
    manifests.deployments.flatMap((workload) => {
      const container = containerOf(workload);
      const delayMs = Number(ofContainer(manifests, container).SHUTDOWN_DELAY_MS ?? 5_000);
      const graceMs = (podOf(workload).terminationGracePeriodSeconds ?? 30) * 1_000;
      return [
        ...unless(
          graceMs >= delayMs + STOP_WITHIN_MS.process,
          `${container.name}: killed after ${graceMs} ms`,
        ),
        ...unless(container.name !== 'api' || delayMs >= 5_000, 'api: SHUTDOWN_DELAY_MS'),
      ];
    }),

  'the Job ends, whether or not it can run': ({ ofKind }) =>
    ofKind('Job').flatMap(({ spec }) => [
      ...unless((spec!.activeDeadlineSeconds ?? 0) >= 3_600, 'migration: activeDeadlineSeconds'),
      ...unless(spec!.backoffLimit !== undefined && spec!.backoffLimit <= 3, 'migration: backoffLimit'),
    ]),

  'no container has more rights than it needs, or unlimited memory': ({ workloads }) =>
    workloads.flatMap((workload) => {
      const { containers, automountServiceAccountToken, securityContext } = podOf(workload);
      const { name, resources, ...container } = containerOf(workload);
      return [
        ...unless(containers.length === 1, `${name}: containers`),
        ...unless(automountServiceAccountToken === false, `${name}: automountServiceAccountToken`),
        ...unless(isDeepStrictEqual(securityContext, RIGHTS_OF_POD), `${name}: securityContext of the pod`),
        ...unless(
          isDeepStrictEqual(container.securityContext, RIGHTS_OF_CONTAINER),
          `${name}: securityContext`,
        ),
        ...unless(resources?.requests?.cpu && resources.requests.memory, `${name}: requests`),
        ...unless(resources?.limits?.memory, `${name}: limits`),
      ];
    }),

  'the workers scale by a metric that the service has': ({ ofKind }, { metrics }) =>
    ofKind('HorizontalPodAutoscaler')
      .flatMap(({ spec }) => spec!.metrics!.flatMap(({ external }) => external?.metric ?? []))
      .flatMap(({ name }) => unless(metrics.includes(`| \`${name}\` `), `no metric ${name}`)),

  'the page has the number of connections of the largest deployment': ({ ofKind }, { page }) => {
    const { DATABASE_POOL_SIZE } = new Environment();
    const connections = ofKind('HorizontalPodAutoscaler').map(({ spec }) => {
      // During a rollout, a quarter more replicas run.
      const replicas = Math.ceil(spec!.maxReplicas! * 1.25);
      const forJobs = spec!.scaleTargetRef!.name === 'pv-onboarding-worker' ? 4 : 0;
      return replicas * (DATABASE_POOL_SIZE + 2 + forJobs);
    });
    const sum = connections.reduce((total, each) => total + each, 0);
    return unless(page.includes(`up to ${sum} connections`), `up to ${sum} connections`);
  },
};
