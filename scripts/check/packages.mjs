import { readFile } from 'node:fs/promises';

// Checks that package.json pins every package to one version and decides about every install script. Checks that package-lock.json lists
// the packages of all platforms, each with its URL. Without the URLs, `npm ci` is slow. Without the packages of another platform, `npm ci`
// fails on that platform. npm sometimes omits both.
const EXACT = /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/;

const readJson = async (file) => JSON.parse(await readFile(file, 'utf8'));
const { dependencies, devDependencies, allowScripts } = await readJson('package.json');
const { packages } = await readJson('package-lock.json');

const found = [];
for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies })) {
  if (!EXACT.test(version)) found.push(`${name} ${version}: pin one version, as in 1.2.3`);
  const locked = packages[`node_modules/${name}`]?.version;
  if (locked !== version)
    found.push(`${name} is ${version} in package.json and ${locked} in package-lock.json`);
}
for (const [path, { resolved, hasInstallScript, optionalDependencies = {} }] of Object.entries(packages)) {
  if (path !== '' && resolved === undefined) found.push(`${path} has no "resolved"`);
  for (const name of Object.keys(optionalDependencies)) {
    const isListed = `node_modules/${name}` in packages || `${path}/node_modules/${name}` in packages;
    if (!isListed) found.push(`${path} needs ${name} on another platform, which is not listed`);
  }
  const name = path.replace(/^.*node_modules\//, '');
  // An entry with `false` is a decision too. Only a package without an entry is an error.
  if (hasInstallScript && allowScripts[name] === undefined)
    found.push(`${name} has an install script: look at it, then name it in allowScripts of package.json`);
}
for (const line of found) console.error(line);
process.exitCode = found.length === 0 ? 0 : 1;
