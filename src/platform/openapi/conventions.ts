import type { OpenAPIObject } from '@nestjs/swagger';
import { operationsOf, type Operation } from './operations.js';

/** Applies rules of the OpenAPI specification and its tools that the scanner of the controllers does not follow. */
export function followRules(document: OpenAPIObject): void {
  mergePaths(document);
  for (const operation of operationsOf(document)) {
    // Explicit, because tools otherwise fall back to the default of the document.
    operation.security ??= [];
  }
}

/**
 * Merges paths that differ only in the names of their parameters. A document must not contain both (specification, section 4.8.8), but a
 * start takes a grid location where a read takes a session. The merged path has the parameter `id`, described by its name in our error
 * messages.
 */
function mergePaths(document: OpenAPIObject): void {
  const byShape = new Map<string, string[]>();
  for (const path of Object.keys(document.paths)) {
    const shape = path.replace(/\{\w+\}/g, '{}');
    byShape.set(shape, [...(byShape.get(shape) ?? []), path]);
  }
  for (const paths of byShape.values()) {
    if (paths.length === 1) continue;
    const [first] = paths as [string];
    const merged = {};
    for (const path of paths) {
      const methods = document.paths[path] as Record<string, Operation>;
      Object.values(methods).forEach(renameParameter);
      Object.assign(merged, methods);
      delete document.paths[path];
    }
    document.paths[first.replace(/\{\w+\}/, '{id}')] = merged;
  }
}

function renameParameter({ parameters = [] }: Operation): void {
  const inPath = parameters.filter((parameter) => parameter.in === 'path');
  if (inPath.length !== 1) throw new Error('only paths with one parameter can be merged');
  for (const parameter of inPath) {
    parameter.description = `The \`${parameter.name}\``;
    parameter.name = 'id';
  }
}
