import type { Facts } from './facts.view.js';

type Replica = Facts['replicas'][number];
type Release = Pick<Replica, 'version' | 'commit' | 'newestMigration'>;
type Process = Release & Pick<Replica, 'name' | 'isAlive' | 'startedAt' | 'lastSeenAt'>;

/** A rollout replaces the last process of the earlier release within this time. */
const ROLLOUT_MS = 900_000;

/** Returns one process of each release, among the live processes that started longer ago than a rollout takes. */
export function lastingReleasesOf(replicas: readonly Process[]): Process[] {
  const live = replicas.filter(({ isAlive }) => isAlive);
  const now = Math.max(...live.map(({ lastSeenAt }) => lastSeenAt.getTime()));
  const lasting = live.filter(({ startedAt }) => now - startedAt.getTime() > ROLLOUT_MS);
  return lasting.filter((each, index) => lasting.slice(0, index).every((earlier) => differ(each, earlier)));
}

/** Returns whether two releases differ. Ignores the commits if one of them is unknown. */
const differ = (one: Release, other: Release): boolean =>
  one.version !== other.version ||
  one.newestMigration !== other.newestMigration ||
  (one.commit !== null && other.commit !== null && one.commit !== other.commit);

export const nameOf = ({ version, commit, newestMigration }: Release): string =>
  `${version} (commit ${commit?.slice(0, 12) ?? 'unknown'}, migration ${newestMigration ?? 'unknown'})`;
