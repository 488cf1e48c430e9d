import { readFile } from 'node:fs/promises';

const EXACT = /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/;

const readJson = async (file) => JSON.parse(await readFile(file, 'utf8'));
const { dependencies, devDependencies, allowScripts } = await readJson('package.json');
const { packages } = await readJson('package-lock.json');

const found = [];
for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies })) {
  // A range could install a version that was never tested.
  if (!EXACT.test(version)) found.push(`${name} ${version}: pin one version, as in 1.2.3`);
}
for (const [path, { hasInstallScript }] of Object.entries(packages)) {
  const name = path.replace(/^.*node_modules\//, '');
  // An entry with `false` is a decision too. Only a package without an entry is an error.
  if (hasInstallScript && allowScripts[name] === undefined)
    found.push(`${name} has an install script: look at it, then name it in allowScripts of package.json`);
}
for (const line of found) console.log(line);
process.exitCode = found.length === 0 ? 0 : 1;
