import type { Facts } from './facts.view.js';

type Replica = Facts['replicas'][number];
type Release = Pick<Replica, 'version' | 'commit' | 'newestMigration'>;
type Process = Release & Pick<Replica, 'name' | 'isAlive'>;
type TimedProcess = Process & Pick<Replica, 'startedAt' | 'lastSeenAt'>;

/** A rollout replaces the last process of the earlier release within this time. */
const ROLLOUT_MS = 900_000;

/** Returns the live processes whose release differs from `build`. A commit that is unknown to one of both may be the same. */
export const otherReleasesOf = (replicas: readonly Process[], build: Release): Process[] =>
  replicas.filter(({ isAlive, ...release }) => isAlive && differ(release, build));

/** Returns one process of each release that has been alive beside the others for longer than a rollout takes. */
export function lastingReleasesOf<P extends TimedProcess>(replicas: readonly P[]): P[] {
  const live = replicas.filter(({ isAlive }) => isAlive);
  const now = Math.max(...live.map(({ lastSeenAt }) => lastSeenAt.getTime()));
  const lasting = live.filter(({ startedAt }) => now - startedAt.getTime() > ROLLOUT_MS);
  return lasting.filter((each, index) => lasting.slice(0, index).every((earlier) => differ(each, earlier)));
}

const differ = (one: Release, other: Release): boolean =>
  one.version !== other.version ||
  one.newestMigration !== other.newestMigration ||
  (one.commit !== null && other.commit !== null && one.commit !== other.commit);

/** Returns the release for people. */
export const nameOf = ({ version, commit, newestMigration }: Release): string =>
  version === null
    ? 'a release that does not report its version'
    : `${version} (commit ${commit?.slice(0, 12) ?? 'unknown'}, migration ${newestMigration ?? 'unknown'})`;
