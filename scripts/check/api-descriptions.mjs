import { readFile } from 'node:fs/promises';
import { createConfig, lintDocument, BaseResolver, makeDocumentFromString } from '@redocly/openapi-core';
import spectral from '@stoplight/spectral-core';
import rulesets from '@stoplight/spectral-rulesets';

// The documents have no external references, so linting needs no network.
const [openapi, asyncapi] = await Promise.all(
  ['openapi.json', 'asyncapi.json'].map(async (name) => ({ name, text: await readFile(name, 'utf8') })),
);
const findings = [
  ...(await redocly(openapi)),
  ...(await lintBySpectral(openapi, rulesets.oas)),
  ...(await lintBySpectral(asyncapi, rulesets.asyncapi)),
];
for (const finding of findings) console.log(finding);
process.exitCode = findings.length === 0 ? 0 : 1;

async function redocly({ name, text }) {
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
