import ts from 'typescript';
import type { Manifest } from './manifests.js';

/** Custom resources, of which the package has no types. */
const WITHOUT_TYPES = ['monitoring.coreos.com/v1'];

/** Returns where the types of an API version are: `v1` is `core/v1`, `networking.k8s.io/v1` is `networking/v1`. */
const moduleOf = (apiVersion: string): string =>
  `kubernetes-types/${apiVersion === 'v1' ? 'core/v1' : apiVersion.replace('.k8s.io', '')}.js`;

/**
 * Returns what the published schema of the Kubernetes API refuses in `objects`: unknown fields, missing fields, wrong types. The package
 * kubernetes-types has this schema as TypeScript types.
 */
export function schemaFaultsOf(objects: readonly Manifest[]): string[] {
  const file = new URL('objects-of-the-manifests.ts', import.meta.url).pathname;
  const typed = objects.filter(({ apiVersion }) => !WITHOUT_TYPES.includes(apiVersion));
  const lines = typed.map((object, index) => {
    const type = `import('${moduleOf(object.apiVersion)}').${object.kind}`;
    return `export const o${index}: ${type} = ${JSON.stringify(object)};`;
  });
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
