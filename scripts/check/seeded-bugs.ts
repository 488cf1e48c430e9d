import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';
import type { Statement } from '../../src/platform/database/database.js';

// Some tests seed a bug by replacing a part of an SQL statement. This script checks that the statement still contains that part. The tests
// would notice a missing part too, but more slowly.

const TESTS = resolve('test');
const found: string[] = [];
let count = 0;

/** Returns the values that an expression in a test can have: statements or texts. */
async function valuesOf(expression: ts.Expression, source: ts.SourceFile): Promise<unknown[]> {
  if (ts.isStringLiteralLike(expression)) return [expression.text];
  if (ts.isArrayLiteralExpression(expression))
    return (await Promise.all(expression.elements.map((element) => valuesOf(element, source)))).flat();
  if (ts.isTemplateExpression(expression)) {
    let text = expression.head.text;
    for (const span of expression.templateSpans)
      text += String((await valuesOf(span.expression, source))[0]) + span.literal.text;
    return [text];
  }
  if (ts.isPropertyAccessExpression(expression)) {
    const [object] = await valuesOf(expression.expression, source);
    return [(object as Record<string, unknown>)[expression.name.text]];
  }
  if (ts.isIdentifier(expression)) return valuesOfName(expression.text, source);
  throw new Error(`${source.fileName}: cannot read ${expression.getText(source)}`);
}

async function valuesOfName(name: string, source: ts.SourceFile): Promise<unknown[]> {
  for (const node of nodesOf(source)) {
    if (ts.isImportDeclaration(node)) {
      const bindings = node.importClause?.namedBindings;
      if (bindings === undefined || !ts.isNamedImports(bindings)) continue;
      if (!bindings.elements.some((element) => element.name.text === name)) continue;
      const path = resolve(dirname(source.fileName), (node.moduleSpecifier as ts.StringLiteral).text);
      const module = (await import(pathToFileURL(path).href)) as Record<string, unknown>;
      return [module[name]];
    }
    if (ts.isVariableDeclaration(node) && node.name.getText(source) === name) {
      const list = node.parent.parent;
      const values = ts.isForOfStatement(list) ? list.expression : node.initializer;
      if (values !== undefined) return valuesOf(values, source);
    }
  }
  throw new Error(`${source.fileName}: cannot find ${name}`);
}

const nodesOf = (node: ts.Node): ts.Node[] => [node, ...childrenOf(node).flatMap(nodesOf)];

function childrenOf(node: ts.Node): ts.Node[] {
  const children: ts.Node[] = [];
  node.forEachChild((child) => void children.push(child));
  return children;
}

for (const name of readdirSync(TESTS, { recursive: true, encoding: 'utf8' })) {
  if (!name.endsWith('.spec.ts')) continue;
  const path = join(TESTS, name);
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
  for (const node of nodesOf(source)) {
    if (!ts.isCallExpression(node) || node.expression.getText(source) !== 'changeStatement') continue;
    const [, statements, part] = node.arguments;
    const [text] = await valuesOf(part!, source);
    for (const statement of (await valuesOf(statements!, source)) as (string | Statement)[]) {
      count += 1;
      const sql = typeof statement === 'string' ? statement : statement.text;
      if (!sql.includes(String(text)))
        found.push(`${name}: the statement does not contain ${String(text)}: ${sql}`);
    }
  }
}

if (count === 0) found.push('no seeded bug was found');
if (found.length > 0) {
  console.error(found.join('\n'));
  process.exitCode = 1;
}
