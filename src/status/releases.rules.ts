import type { StatusView } from './status.view.js';

type Replica = StatusView['replicas'][number];
type Release = Pick<Replica, 'version' | 'commit' | 'newestMigration'>;
type Process = Release & Pick<Replica, 'name' | 'isAlive'>;

/** Returns the live processes whose release differs from `build`. A commit that is unknown to one of both may be the same. */
export const otherReleasesOf = (replicas: readonly Process[], build: Release): Process[] =>
  replicas.filter(({ isAlive, ...release }) => isAlive && differ(release, build));

const differ = (one: Release, other: Release): boolean =>
  one.version !== other.version ||
  one.newestMigration !== other.newestMigration ||
  (one.commit !== null && other.commit !== null && one.commit !== other.commit);

/** Returns the release for people. */
export const nameOf = ({ version, commit, newestMigration }: Release): string =>
  version === null
    ? 'a release that does not report its version'
    : `${version} (commit ${commit?.slice(0, 12) ?? 'unknown'}, migration ${newestMigration ?? 'unknown'})`;
