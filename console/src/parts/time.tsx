import { formatAge, formatSeconds } from '../format/duration.js';
import { formatInstant } from '../format/instant.js';
import { useNow } from './clock.js';

interface Props {
  /** In the form of the API; null if there is none. */
  readonly at: string | Date | null;
  /** Shown instead of a missing instant. */
  readonly none?: string;
}

/** An instant in the zone of the viewer. Its title is the exact instant in UTC. */
export function Instant({ at, none = '–' }: Props) {
  const now = useNow();
  if (at === null) return <span className="soft">{none}</span>;
  const date = new Date(at);
  return (
    <time dateTime={date.toISOString()} title={date.toISOString()}>
      {formatInstant(date, now)}
    </time>
  );
}

/** For how long something has been so. Its title is the exact instant in UTC. */
export function For({ since }: { readonly since: string }) {
  const now = useNow();
  return (
    <time dateTime={since} title={since}>
      for {formatSeconds(Math.max(0, now.getTime() - Date.parse(since)) / 1_000)}
    </time>
  );
}

/** How long ago an instant was. Its title is the exact instant in UTC. */
export function Age({ at, none = '–' }: Props) {
  const now = useNow();
  if (at === null) return <span className="soft">{none}</span>;
  const date = new Date(at);
  return (
    <time dateTime={date.toISOString()} title={date.toISOString()}>
      {formatAge(date, now)}
    </time>
  );
}
