import { readFile } from 'node:fs/promises';
import { Parser } from '@asyncapi/parser';
import { createConfig, lintDocument, BaseResolver, makeDocumentFromString } from '@redocly/openapi-core';
import spectral from '@stoplight/spectral-core';
import rulesets from '@stoplight/spectral-rulesets';

// The documents have no external references, so linting needs no network.
const [openapi, asyncapi] = await Promise.all(
  ['openapi.json', 'asyncapi.json'].map(async (name) => ({ name, text: await readFile(name, 'utf8') })),
);
const findings = [
  ...(await lintByRedocly(openapi)),
  ...(await lintByRedocly(asyncapi)),
  ...(await lintBySpectral(openapi, rulesets.oas)),
  ...(await lintBySpectral(asyncapi, rulesets.asyncapi)),
  ...(await parseAsyncapi(asyncapi)),
];
for (const finding of findings) console.log(finding);
process.exitCode = findings.length === 0 ? 0 : 1;

async function lintByRedocly({ name, text }) {
  const problems = await lintDocument({
    document: makeDocumentFromString(text, name),
    externalRefResolver: new BaseResolver(),
    config: await createConfig({ extends: ['recommended'] }),
  });
  return problems.map(
    ({ ruleId, message, location: [at] }) => `${name} ${at?.pointer ?? ''}: ${message} (redocly ${ruleId})`,
  );
}

async function lintBySpectral({ name, text }, ruleset) {
  const linter = new spectral.Spectral();
  linter.setRuleset(new spectral.Ruleset({ extends: [ruleset] }));
  const results = await linter.run(JSON.parse(text));
  return results.map(
    ({ code, message, path }) => `${name} #/${path.join('/')}: ${message} (spectral ${code})`,
  );
}

async function parseAsyncapi({ name, text }) {
  const { diagnostics } = await new Parser().parse(text);
  return diagnostics.map(
    ({ code, message, path }) => `${name} #/${path.join('/')}: ${message} (AsyncAPI parser ${code})`,
  );
}
