import { readFile } from 'node:fs/promises';

// Checks that package-lock.json lists the packages of all platforms, each with its URL, and has the same versions as package.json. npm can
// omit URLs, which makes `npm ci` slow, and the packages of other platforms, which makes `npm ci` fail there.
const { packages } = JSON.parse(await readFile('package-lock.json', 'utf8'));
const { dependencies, devDependencies } = JSON.parse(await readFile('package.json', 'utf8'));
const problems = [];

for (const [path, entry] of Object.entries(packages)) {
  if (path !== '' && entry.resolved === undefined) problems.push(`${path} has no "resolved"`);
  for (const name of Object.keys(entry.optionalDependencies ?? {})) {
    const isListed = `node_modules/${name}` in packages || `${path}/node_modules/${name}` in packages;
    if (!isListed) problems.push(`${path} needs ${name} on another platform, which is not listed`);
  }
}
const wanted = { ...dependencies, ...devDependencies };
for (const [name, version] of Object.entries(wanted)) {
  const locked = packages[`node_modules/${name}`]?.version;
  if (locked !== version)
    problems.push(`${name} is ${version} in package.json and ${locked} in package-lock.json`);
}
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
