import semver from 'semver';

/** The licences of packages that a user of the service receives. Each of them asks only for a notice, or for nothing. */
const LICENCES = [
  'MIT',
  'MIT-0',
  'ISC',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'Python-2.0',
  'Unlicense',
];
/** The further licences of packages that only a developer installs. Nothing of them is part of the service. */
const LICENCES_OF_TOOLS = [...LICENCES, 'MPL-2.0', 'EPL-2.0', 'CC-BY-4.0'];
/** The licences of packages that do not name theirs in the field `license`, by their LICENSE file. */
const LICENCE_BY_FILE: Readonly<Record<string, string>> = { busboy: 'MIT', streamsearch: 'MIT' };

/**
 * The packages that ask for a newer Node than `engines` of package.json promises, with the reason why they do no harm. `npm run check:nodes`
 * runs the tools, the service and the tests on the oldest promised Node.
 */
const NEWER_NODE: Readonly<Record<string, string>> = {
  '@prisma/streams-local': 'only `prisma dev` loads it, which is not used',
};

/** One version, such as 1.2.3 or 1.2.3-beta.1. */
const EXACT = /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/;

export interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly engines: { readonly node: string };
  readonly allowScripts: Readonly<Record<string, boolean>>;
}

export interface LockedPackage {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly hasInstallScript?: boolean;
  readonly engines?: { readonly node?: string };
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

type Packages = Readonly<Record<string, LockedPackage>>;

/** Returns what is wrong with the packages that package.json names and package-lock.json lists, one line each. */
export function packageFaults(manifest: Manifest, packages: Packages): string[] {
  const oldestNode = semver.minVersion(manifest.engines.node)!;
  const listed = Object.entries(packages).filter(([path]) => path !== '');
  return [
    ...pinFaults(manifest, packages),
    ...listed.flatMap(([path, entry]) => [
      ...sourceFaults(path, entry, packages),
      ...scriptFaults(path, entry, manifest),
      ...licenceFaults(path, entry),
      ...nodeFaults(path, entry, oldestNode),
    ]),
    ...Object.keys(NEWER_NODE)
      .filter((name) => !listed.some(([path]) => nameOf(path) === name))
      .map((name) => `${name} is not installed any more: remove it from NEWER_NODE`),
  ];
}

const nameOf = (path: string): string =>
  path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

function* pinFaults({ dependencies, devDependencies }: Manifest, packages: Packages) {
  for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies })) {
    if (!EXACT.test(version)) yield `${name} ${version}: pin one version, as in 1.2.3`;
    const locked = packages[`node_modules/${name}`]?.version;
    if (locked !== version) yield `${name} is ${version} in package.json and ${locked} in package-lock.json`;
  }
}

/**
 * Without its URL, a package is installed slowly. Without its hash, npm installs whatever the URL returns. Without the packages of another
 * platform, `npm ci` fails on that platform. npm sometimes omits each of them.
 */
function* sourceFaults(path: string, entry: LockedPackage, packages: Packages) {
  const { version, resolved, integrity, optionalDependencies = {} } = entry;
  if (resolved === undefined) yield `${path} has no "resolved"`;
  if (!integrity?.startsWith('sha512-'))
    yield `${path} has no "integrity" of sha512: take it from \`npm view ${nameOf(path)}@${version} dist.integrity\``;
  for (const name of Object.keys(optionalDependencies)) {
    const isListed = `node_modules/${name}` in packages || `${path}/node_modules/${name}` in packages;
    if (!isListed) yield `${path} needs ${name} on another platform, which is not listed`;
  }
}

function* scriptFaults(path: string, { hasInstallScript }: LockedPackage, { allowScripts }: Manifest) {
  const name = nameOf(path);
  // An entry with `false` is a decision too. Only a package without an entry is an error.
  if (hasInstallScript && allowScripts[name] === undefined)
    yield `${name} has an install script: look at it, then name it in allowScripts of package.json`;
}

function* licenceFaults(path: string, { license, dev, devOptional }: LockedPackage) {
  const licence = license ?? LICENCE_BY_FILE[nameOf(path)];
  const allowed = dev || devOptional ? LICENCES_OF_TOOLS : LICENCES;
  if (licence === undefined) yield `${path} names no licence: read its LICENSE file`;
  else if (!isAllowed(licence, allowed)) yield `${path} has the licence ${licence}, which nobody has allowed`;
}

/** Returns whether an SPDX expression without nested parentheses allows the use: one side of each OR, all sides of each AND. */
function isAllowed(expression: string, allowed: readonly string[]): boolean {
  const sides = (text: string, word: string) => text.replace(/[()]/g, '').split(` ${word} `);
  return sides(expression.replaceAll(' and ', ' AND '), 'OR').some((side) =>
    sides(side, 'AND').every((licence) => allowed.includes(licence)),
  );
}

function* nodeFaults(path: string, { version, engines }: LockedPackage, oldestNode: semver.SemVer) {
  const wanted = engines?.node;
  if (wanted === undefined || semver.satisfies(oldestNode, wanted) || NEWER_NODE[nameOf(path)] !== undefined)
    return;
  yield `${path} ${version} asks for Node ${wanted}, and we promise ${oldestNode.version}: take another version, or name it in NEWER_NODE`;
}
