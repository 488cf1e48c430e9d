import { formatAge, formatSeconds } from '../format/duration.js';
import { formatInstant } from '../format/instant.js';
import { texts } from '../texts.js';
import { useNow } from './clock.js';

interface Props {
  /** The instant as a Date or as the API writes it; null if there is none. */
  readonly at: string | Date | null;
  /** Shown instead of a missing instant. */
  readonly none?: string;
}

/** Returns a component that shows an instant in the form of `format`. The tooltip is the exact instant in UTC. */
const timeBy = (format: (at: Date, now: Date) => string) =>
  function Time({ at, none = '–' }: Props) {
    const now = useNow();
    if (at === null) return <span className="soft">{none}</span>;
    const date = new Date(at);
    return (
      <time dateTime={date.toISOString()} title={date.toISOString()}>
        {format(date, now)}
      </time>
    );
  };

/** Shows an instant in the time zone of the viewer. */
export const Instant = timeBy((at, now) => formatInstant(at, now));

/** Shows how long ago an instant was. */
export const Age = timeBy(formatAge);

/** Shows the time that has passed since an instant. */
export const For = timeBy((since, now) =>
  texts.stall.for(formatSeconds(Math.max(0, now.getTime() - since.getTime()) / 1_000)),
);
