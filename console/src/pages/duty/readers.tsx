import type { Overview } from '../../api/client.js';
import { formatSeconds } from '../../format/duration.js';
import { Facts, Panel } from '../../parts/panel.js';
import { Trend } from '../../parts/trend.js';
import { texts } from '../../texts.js';

/** Shows how far the readers of events are behind. */
export function ReadersPanel({ status: { outbox }, history }: Overview) {
  const { handlers, webhooks, streams, broker } = outbox.readers;
  const { lag } = texts.readers;

  return (
    <Panel title={texts.readers.title}>
      <Facts
        facts={[
          [
            texts.readers.withoutSequence,
            texts.readers.unsequenced(outbox.unsequenced, outbox.oldestUnsequencedSeconds),
          ],
          [
            texts.pages.webhooks,
            texts.readers.webhooks(
              lag(webhooks.undelivered + webhooks.unread, webhooks.oldestUndeliveredSeconds),
              webhooks.failingEndpoints,
              webhooks.endpoints,
              webhooks.disabledEndpoints,
            ),
          ],
          [
            texts.readers.handlers,
            texts.readers.handlersOf(
              lag(handlers.undelivered, handlers.oldestUndeliveredSeconds),
              handlers.failing,
            ),
          ],
          [
            texts.readers.broker,
            broker === null
              ? texts.values.none
              : texts.readers.brokerOf(
                  lag(broker.unpublished, broker.oldestUnpublishedSeconds),
                  broker.failingSince && broker.lastError,
                ),
          ],
          [texts.readers.streams, texts.readers.open(streams.open)],
        ]}
      />
      <Trend
        title={texts.readers.slowest}
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
