import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { loadAll } from 'js-yaml';
import { readPage, ROOT } from '../readme.js';

/** The fields of an object of Kubernetes that the checks read. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata?: { readonly name: string; readonly labels?: Labels };
  readonly spec?: {
    readonly selector?: Labels & { readonly matchLabels?: Labels };
    readonly template?: { readonly metadata: { readonly labels: Labels }; readonly spec: Pod };
    readonly podSelector?: { readonly matchLabels: Labels };
    readonly scaleTargetRef?: { readonly name: string };
    readonly maxReplicas?: number;
    readonly activeDeadlineSeconds?: number;
    readonly backoffLimit?: number;
    readonly metrics?: readonly { readonly external?: { readonly metric: Metric } }[];
    readonly ports?: readonly object[];
    readonly endpoints?: readonly object[];
    readonly ingress?: readonly object[];
    readonly egress?: readonly { readonly ports: readonly { readonly port: number }[] }[];
  };
}

export type Labels = Readonly<Record<string, string>>;

interface Metric {
  readonly name: string;
}

interface Pod {
  readonly terminationGracePeriodSeconds?: number;
  readonly automountServiceAccountToken?: boolean;
  readonly securityContext?: object;
  readonly topologySpreadConstraints?: readonly {
    readonly labelSelector: { readonly matchLabels: Labels };
  }[];
  readonly containers: readonly Container[];
  readonly volumes?: readonly { readonly name: string; readonly secret?: { readonly secretName: string } }[];
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value: string }[];
  readonly envFrom?: readonly object[];
  readonly ports?: readonly object[];
  readonly startupProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly resources?: { readonly requests?: Labels; readonly limits?: Labels };
  readonly securityContext?: object;
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

interface Kustomization {
  readonly resources: readonly string[];
  readonly images?: readonly { readonly name: string }[];
  readonly configMapGenerator: readonly { readonly name: string; readonly literals: readonly string[] }[];
}

/** Returns the text of every file below `ops/kubernetes`, by its path there. */
export async function readManifests(): Promise<ReadonlyMap<string, string>> {
  const entries = await readdir(new URL('ops/kubernetes', ROOT), { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).split('/ops/kubernetes/')[1]!)
    // Excludes an overlay and a Secret that a developer may have added.
    .filter((path) => /^(base|overlays\/example)\//.test(path));
  return new Map(
    await Promise.all(paths.map(async (path) => [path, await readPage(`ops/kubernetes/${path}`)] as const)),
  );
}

export const parse = (text: string): Manifest[] => loadAll(text) as Manifest[];

/** Returns the variables of lines such as `NAME=value`. */
export const variablesIn = (lines: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );

/** Parses the files. The ConfigMap has the variables of the base and of the example, as kustomize merges them. */
export function parseManifests(files: ReadonlyMap<string, string>) {
  const kustomizationOf = (path: string) => parse(files.get(path)!)[0] as unknown as Kustomization;
  const base = kustomizationOf('base/kustomization.yaml');
  const overlay = kustomizationOf('overlays/example/kustomization.yaml');
  const objects = [...files]
    .filter(([path]) => !path.endsWith('kustomization.yaml'))
    .flatMap(([, text]) => parse(text));
  const ofKind = (kind: string) => objects.filter((object) => object.kind === kind);
  const generators = [...base.configMapGenerator, ...overlay.configMapGenerator];
  return {
    paths: [...files.keys()],
    base,
    overlay,
    objects,
    ofKind,
    deployments: ofKind('Deployment'),
    /** Everything that runs pods. */
    workloads: [...ofKind('Deployment'), ...ofKind('Job')],
    generators,
    settings: variablesIn(generators.flatMap(({ literals }) => literals)),
  };
}

export type Manifests = ReturnType<typeof parseManifests>;
