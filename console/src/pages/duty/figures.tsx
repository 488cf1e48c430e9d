import type { Status } from '../../api/client.js';
import { formatLatency, formatSeconds } from '../../format/duration.js';
import { countOf, formatNumber } from '../../format/words.js';
import { Link } from '../../parts/link.js';
import { VIEWS, type View } from './views.js';

interface Figure {
  readonly view: View;
  readonly value: string;
  readonly words: string;
}

/** Shows four figures, each with a link to its charts. */
export const Figures = ({ status }: { readonly status: Status }) => (
  <ul className="figures" aria-label="Figures">
    {figuresOf(status).map(({ view, value, words }) => (
      <li key={view}>
        <Link to="" filters={{ view }}>
          {VIEWS[view]}
        </Link>
        <strong>{value}</strong>
        <span className="soft">{words}</span>
      </li>
    ))}
  </ul>
);

function figuresOf({ remote, poller, outbox, activity }: Status): Figure[] {
  const { calls } = remote.deployment;
  const succeeded = calls.reduce((sum, each) => sum + each.succeeded, 0);
  const all = calls.reduce((sum, each) => sum + each.succeeded + each.failed, 0);
  const slowest = Math.max(...calls.map(({ p95Seconds }) => p95Seconds ?? 0));
  const { handlers, webhooks, broker } = outbox.readers;
  const behind = Math.max(
    outbox.oldestUnsequencedSeconds,
    handlers.oldestUndeliveredSeconds,
    webhooks.oldestUndeliveredSeconds,
    broker?.oldestUnpublishedSeconds ?? 0,
  );
  const usual = activity.usualStartsPerHour;
  return [
    {
      view: 'remote',
      value: all === 0 ? 'no calls' : `${formatNumber((100 * succeeded) / all)} % answered`,
      words:
        all === 0
          ? 'in 5 min'
          : `${countOf(all, 'call')} in 5 min${slowest > 0 ? `, 95 % within ${formatLatency(slowest)}` : ''}`,
    },
    {
      view: 'freshness',
      value: poller === null ? 'unknown' : `${formatNumber(poller.overdue)} late`,
      words: poller === null ? 'the schedule is locked' : `of ${countOf(poller.watched, 'watched session')}`,
    },
    {
      view: 'customers',
      value: countOf(activity.startsPerHour, 'start'),
      words: `in the last hour${usual === null || usual === 0 ? '' : `, usually at least ${formatNumber(usual)}`}`,
    },
    {
      view: 'events',
      value: behind === 0 ? 'no delay' : `${formatSeconds(behind)} behind`,
      words: `${countOf(webhooks.endpoints, 'endpoint')}, ${formatNumber(webhooks.failingEndpoints)} failing for 15 min`,
    },
  ];
}
