import type { FunnelDay } from '../../api/client.js';
import { useFunnel } from '../../api/queries.js';
import { formatSeconds } from '../../format/duration.js';
import { formatNumber } from '../../format/words.js';
import { Empty, Loaded } from '../../parts/loaded.js';
import { Panel } from '../../parts/panel.js';
import { Table } from '../../parts/table.js';
import { funnelOf, STEPS } from '../../rules/funnel.js';
import { texts } from '../../texts.js';

const DAYS = 7;

/** Shows how many of the invitations of the last days have reached each step. */
export function FunnelPanel() {
  const funnel = useFunnel(DAYS);
  return (
    <Panel title={texts.funnel.inDays(DAYS)} isWide>
      <Loaded query={funnel}>
        {(days) =>
          days.length === 0 ? (
            <Empty>{texts.funnel.nobody}</Empty>
          ) : (
            <>
              <Steps days={days} />
              <Table
                label={texts.funnel.byDay}
                rows={days}
                keyOf={({ key }) => key ?? ''}
                columns={[
                  { title: texts.funnel.day, of: ({ key }) => key },
                  ...STEPS.map((step) => ({
                    title: texts.funnel.steps[step],
                    of: (day: FunnelDay) => formatNumber(day[step]),
                    isNumber: true,
                  })),
                  { title: texts.titles.expired, of: ({ expired }) => formatNumber(expired), isNumber: true },
                  {
                    title: texts.titles.declined,
                    of: ({ declined }) => formatNumber(declined),
                    isNumber: true,
                  },
                  {
                    title: texts.titles.toOnlineMedian,
                    of: ({ medianSecondsToOnline: seconds }) =>
                      seconds === null ? '–' : formatSeconds(seconds),
                    isNumber: true,
                  },
                ]}
              />
            </>
          )
        }
      </Loaded>
    </Panel>
  );
}

const Steps = ({ days }: { readonly days: readonly FunnelDay[] }) => (
  <ol className="funnel" aria-label={texts.funnel.howFar}>
    {funnelOf(days).map(({ step, count, share }) => (
      <li key={step}>
        <span>{texts.funnel.steps[step]}</span>
        <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
          <rect
            className={step === 'ownerDone' ? 'inferred' : ''}
            x={0}
            y={1}
            width={100 * (share ?? 0)}
            height={8}
          />
        </svg>
        <strong>
          {formatNumber(count)}
          {share !== null && <span className="soft"> {Math.round(share * 100)} %</span>}
        </strong>
      </li>
    ))}
  </ol>
);
