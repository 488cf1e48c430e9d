import type { Status } from '../../api/client.js';
import { Link } from '../../parts/link.js';
import { texts } from '../../texts.js';
import { VIEWS, type View } from './views.js';

interface Figure {
  readonly view: View;
  readonly value: string;
  readonly words: string;
}

/** Shows four figures, each with a link to its charts. */
export const Figures = ({ status }: { readonly status: Status }) => (
  <ul className="figures" aria-label={texts.figures.label}>
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

  return [
    {
      view: 'remote',
      value: all === 0 ? texts.figures.noCalls : texts.figures.answered((100 * succeeded) / all),
      words: all === 0 ? texts.figures.in5min : texts.figures.calls(all, slowest),
    },
    {
      view: 'freshness',
      value: poller === null ? texts.values.unknown : texts.figures.late(poller.overdue),
      words: poller === null ? texts.figures.scheduleLocked : texts.figures.ofWatched(poller.watched),
    },
    {
      view: 'customers',
      value: texts.counts.start(activity.startsPerHour),
      words: texts.figures.inLastHour(activity.usualStartsPerHour),
    },
    {
      view: 'events',
      value: behind === 0 ? texts.figures.noDelay : texts.figures.behind(behind),
      words: texts.figures.endpoints(webhooks.endpoints, webhooks.failingEndpoints),
    },
  ];
}
