import type { Overview } from '../../api/client.js';
import { formatSeconds } from '../../format/duration.js';
import { countOf, formatNumber } from '../../format/words.js';
import { Facts, Panel } from '../../parts/panel.js';
import { Trend } from '../../parts/trend.js';

/** Shows how far the readers of events are behind. */
export function ReadersPanel({ status: { outbox }, history }: Overview) {
  const { handlers, webhooks, streams, broker } = outbox.readers;
  const lagOf = (count: number, seconds: number) =>
    count === 0 ? 'has all events' : `${countOf(count, 'event')} behind, by ${formatSeconds(seconds)}`;
  return (
    <Panel title="Readers of events">
      <Facts
        facts={[
          [
            'Without sequence',
            lagOf(outbox.unsequenced, outbox.oldestUnsequencedSeconds).replace('has all events', 'no event'),
          ],
          [
            'Webhooks',
            `${lagOf(webhooks.undelivered + webhooks.unread, webhooks.oldestUndeliveredSeconds)}; ${formatNumber(webhooks.failingEndpoints)} of ${countOf(webhooks.endpoints, 'endpoint')} failing for 15 min, ${formatNumber(webhooks.disabledEndpoints)} disabled after failures`,
          ],
          [
            'Handlers',
            `${lagOf(handlers.undelivered, handlers.oldestUndeliveredSeconds)}${handlers.failing === 0 ? '' : `; ${formatNumber(handlers.failing)} fail`}`,
          ],
          [
            'Broker',
            broker === null
              ? 'none'
              : `${lagOf(broker.unpublished, broker.oldestUnpublishedSeconds)}${broker.failingSince === null ? '' : `; it fails: ${broker.lastError}`}`,
          ],
          ['Streams', `${formatNumber(streams.open)} open, with this page's`],
        ]}
      />
      <Trend
        title="Slowest reader"
        history={history}
        of={({ handlersLagSeconds, webhooksLagSeconds, brokerLagSeconds }) => {
          const known = [handlersLagSeconds, webhooksLagSeconds, brokerLagSeconds].flatMap(
            (each) => each ?? [],
          );
          return known.length === 0 ? null : Math.max(...known);
        }}
        format={formatSeconds}
      />
    </Panel>
  );
}
