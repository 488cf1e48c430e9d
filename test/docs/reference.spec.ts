import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import { referenceOf } from '../../src/platform/openapi/reference.rules.js';
import { findProgram } from '../setup/receivers/programs.js';
import { readPage, ROOT } from './pages.js';

interface Operation {
  readonly operationId: string;
  readonly description: string;
  readonly 'x-required-scope'?: string;
  readonly 'x-codeSamples': readonly { readonly label: string; readonly source: string }[];
}

let operations: Operation[];
const samplesIn = (language: string): [operationId: string, source: string][] =>
  operations.map(({ operationId, 'x-codeSamples': samples }) => [
    operationId,
    samples.find(({ label }) => label === language)!.source,
  ]);

beforeAll(async () => {
  const document = JSON.parse(await readPage('openapi.json')) as { paths: object };
  const { paths } = referenceOf(document) as { paths: Record<string, Record<string, Operation>> };
  operations = Object.values(paths).flatMap((methods) => Object.values(methods));
});

/** Returns the errors of the compiler in these modules, which import the client by its name. */
function compile(modules: ReadonlyMap<string, string>): string[] {
  const root = fileURLToPath(ROOT);
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleDetection: ts.ModuleDetectionKind.Force,
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: ['node'],
    paths: { '@pv-onboarding/client': [join(root, 'clients/typescript/src/index.ts')] },
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  const find = (file: string) => modules.get(file.slice(file.lastIndexOf('/') + 1));
  host.fileExists = (file) => find(file) !== undefined || fileExists(file);
  host.getSourceFile = (file, version) => {
    const text = find(file);
    return text === undefined ? getSourceFile(file, version) : ts.createSourceFile(file, text, version);
  };
  const names = [...modules.keys()].map((name) => join(root, name));
  const program = ts.createProgram(names, options, host);
  return ts
    .getPreEmitDiagnostics(program)
    .map(
      ({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`,
    );
}

describe('the reference of the API', () => {
  it('says the scope of every operation', () => {
    for (const { operationId, description, 'x-required-scope': scope } of operations) {
      const first = scope?.split(/[ |]+/)[0];
      const words = first === undefined ? '**Needs no key.**' : `**Scope:** \`${first}\``;
      expect([operationId, description.startsWith(words)]).toEqual([operationId, true]);
    }
  });

  it('has samples in TypeScript that compile against the client', () => {
    const modules = new Map(samplesIn('TypeScript').map(([id, source]) => [`${id}.sample.mts`, source]));
    // The compiler would find an error.
    const right = modules.get('registerUser.sample.mts')!;
    modules.set('wrong.sample.mts', right.replace('tenantReference', 'reference'));
    const errors = compile(modules);
    expect(errors).not.toEqual([]);
    expect(errors.filter((error) => !error.includes('wrong.sample.mts'))).toEqual([]);
  }, 180_000);

  it('has samples of curl that a shell can read', () => {
    for (const [id, source] of samplesIn('curl')) {
      execFileSync('sh', ['-n'], { input: source });
      expect([id, source.startsWith('curl ')]).toEqual([id, true]);
    }
  });

  const python = findProgram('python3', 'PYTHON');
  it(`has samples in Python that compile${python === null ? ': THERE IS NO python3 HERE (or PYTHON)' : ''}`, () => {
    const samples = samplesIn('Python');
    expect(samples).toHaveLength(operations.length);
    if (python === null) return;
    const program = `import json, sys\nfor name, source in json.load(sys.stdin): compile(source, name, 'exec')`;
    execFileSync(python, ['-c', program], { input: JSON.stringify(samples) });
  });
});
