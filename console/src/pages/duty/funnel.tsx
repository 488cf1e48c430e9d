import type { FunnelDay } from '../../api/client.js';
import { useFunnel } from '../../api/queries.js';
import { formatSeconds } from '../../format/duration.js';
import { formatNumber } from '../../format/words.js';
import { Empty, Loaded } from '../../parts/loaded.js';
import { Panel } from '../../parts/panel.js';
import { Table } from '../../parts/table.js';
import { funnelOf, STEP_NAMES, STEPS } from '../../rules/funnel.js';

const DAYS = 7;

/** Shows how many of the invitations of the last days have reached each step. */
export function FunnelPanel() {
  const funnel = useFunnel(DAYS);
  return (
    <Panel title={`Invitations in ${DAYS} days`} isWide>
      <Loaded query={funnel}>
        {(days) =>
          days.length === 0 ? (
            <Empty>No owner was invited.</Empty>
          ) : (
            <>
              <Steps days={days} />
              <Table
                label="Invitations by day"
                rows={days}
                keyOf={({ key }) => key ?? ''}
                columns={[
                  { title: 'Day (UTC)', of: ({ key }) => key },
                  ...STEPS.map((step) => ({
                    title: STEP_NAMES[step],
                    of: (day: FunnelDay) => formatNumber(day[step]),
                    isNumber: true,
                  })),
                  { title: 'Expired', of: ({ expired }) => formatNumber(expired), isNumber: true },
                  { title: 'Declined', of: ({ declined }) => formatNumber(declined), isNumber: true },
                  {
                    title: 'To online, median',
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
  <ol className="funnel" aria-label="How far the invited came">
    {funnelOf(days).map(({ step, count, share }) => (
      <li key={step}>
        <span>{STEP_NAMES[step]}</span>
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
