import { readFile } from 'node:fs/promises';
import { packageFaults, type LockedPackage, type Manifest } from './package-faults.js';

// Checks package.json and package-lock.json: versions, sources, hashes, install scripts, licences, and the releases of Node.
const readJson = async (file: string): Promise<unknown> => JSON.parse(await readFile(file, 'utf8'));
const manifest = (await readJson('package.json')) as Manifest;
const { packages } = (await readJson('package-lock.json')) as { packages: Record<string, LockedPackage> };

const faults = packageFaults(manifest, packages);
for (const line of faults) console.error(line);
process.exitCode = faults.length === 0 ? 0 : 1;
