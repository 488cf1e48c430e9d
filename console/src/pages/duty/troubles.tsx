import type { History, Status } from '../../api/client.js';
import { Empty } from '../../parts/loaded.js';
import { Panel } from '../../parts/panel.js';
import { Age } from '../../parts/time.js';
import { troublesOf } from '../../rules/history.js';
import { texts } from '../../texts.js';

interface Props {
  readonly history: History | undefined;
  readonly status: Status | undefined;
  /** The time range of the history in words, such as `7 d`. */
  readonly length: string;
}

/** Shows the reasons of the last hours, including those that have ended, each with a chart. */
export function TroublesPanel({ history, status, length }: Props) {
  const { troubles, stepShare } =
    history === undefined ? { troubles: [], stepShare: 1 } : troublesOf(history, status?.reasons ?? []);
  return (
    <Panel title={texts.troubles.title(length)} isWide>
      {history === undefined ? (
        <p className="loading">{texts.loaded.loading}</p>
      ) : history.points.length === 0 ? (
        <Empty>{texts.troubles.notYet}</Empty>
      ) : troubles.length === 0 ? (
        <Empty>{texts.troubles.nothing}</Empty>
      ) : (
        <ul className="troubles">
          {troubles.map(({ code, title, starts, seconds, endedAt }) => (
            <li key={code}>
              <span>{title}</span>
              <svg viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true">
                {starts.map((start) => (
                  <rect key={start} x={start} y={0} width={stepShare} height={1} />
                ))}
              </svg>
              <span className="soft">
                {texts.troubles.lasted(
                  seconds,
                  endedAt === null ? texts.troubles.still : texts.troubles.until(<Age at={endedAt} />),
                )}
              </span>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
