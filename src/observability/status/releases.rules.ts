import type { Facts } from './facts.view.js';

type Replica = Facts['replicas'][number];
type Release = Pick<Replica, 'version' | 'commit' | 'newestMigration'>;
type Process = Release & Pick<Replica, 'name' | 'isAlive' | 'startedAt' | 'lastSeenAt'>;

/** A rollout replaces the last process of the earlier release within this time. */
const ROLLOUT_MS = 900_000;

/** Returns one process of each release that has been alive beside the others for longer than a rollout takes. */
export function lastingReleasesOf(replicas: readonly Process[]): Process[] {
  const live = replicas.filter(({ isAlive }) => isAlive);
  const now = Math.max(...live.map(({ lastSeenAt }) => lastSeenAt.getTime()));
  const lasting = live.filter(({ startedAt }) => now - startedAt.getTime() > ROLLOUT_MS);
  return lasting.filter((each, index) => lasting.slice(0, index).every((earlier) => differ(each, earlier)));
}

/** A commit that is unknown to one of both may be the same. */
const differ = (one: Release, other: Release): boolean =>
  one.version !== other.version ||
  one.newestMigration !== other.newestMigration ||
  (one.commit !== null && other.commit !== null && one.commit !== other.commit);

/** Returns the release for people. */
export const nameOf = ({ version, commit, newestMigration }: Release): string =>
  version === null
    ? 'a release that does not report its version'
    : `${version} (commit ${commit?.slice(0, 12) ?? 'unknown'}, migration ${newestMigration ?? 'unknown'})`;
