import type { TimelineEntry } from '../api/client.js';
import { formatSeconds } from '../format/duration.js';
import { wordsOf } from '../format/words.js';
import { layOut, segmentsOf } from '../rules/timeline.js';
import { texts } from '../texts.js';
import { useNow } from './clock.js';
import { Instant } from './time.js';

/** The width of the chart in its own units. The browser scales the chart to the width of the page. */
const WIDTH = 1_000;
const LEAST_WIDTH = 60;
const HEIGHT = 22;

/** Shows the states of a session in their order. An inferred state is dashed. */
export function TimelinePicture({ entries }: { readonly entries: readonly TimelineEntry[] }) {
  const segments = segmentsOf(entries, useNow());
  if (segments.length === 0) return null;
  const places = layOut(segments, WIDTH, LEAST_WIDTH);
  const durationOf = ({ from, to }: { from: Date; to: Date }) =>
    formatSeconds((to.getTime() - from.getTime()) / 1_000);
  const nameOf = ({ state, isInferred }: { state: string; isInferred: boolean }) =>
    isInferred ? wordsOf(state) + texts.values.inferred : wordsOf(state);
  const text = texts.timeline.states(segments.map((each) => [nameOf(each), durationOf(each)]));
  return (
    <figure className="picture">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={text} preserveAspectRatio="none">
        {segments.map((segment, index) => {
          const [x, width] = places[index]!;
          return (
            <rect
              key={segment.from.getTime() + segment.state}
              className={`state ${segment.state}${segment.isInferred ? ' inferred' : ''}`}
              x={x + 2}
              y={2}
              width={width - 4}
              height={HEIGHT - 4}
              rx={3}
            />
          );
        })}
      </svg>
      <ol>
        {segments.map((segment) => (
          <li key={segment.from.getTime() + segment.state}>
            <svg className="sample" viewBox="0 0 28 14" aria-hidden="true">
              <rect
                className={`state ${segment.state}${segment.isInferred ? ' inferred' : ''}`}
                x={1}
                y={1}
                width={26}
                height={12}
                rx={3}
              />
            </svg>
            <span>
              {texts.timeline.from(
                <>
                  <strong>{wordsOf(segment.state)}</strong>
                  {segment.isInferred && texts.values.inferred}
                </>,
                <Instant at={segment.from} />,
                durationOf(segment),
              )}
            </span>
          </li>
        ))}
      </ol>
    </figure>
  );
}
