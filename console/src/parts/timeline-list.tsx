import { useQuery } from '@tanstack/react-query';
import { readPage } from '#client/pages.js';
import { client, type TimelineEntry } from '../api/client.js';
import { useInterval } from '../api/queries.js';
import { wordsOf } from '../format/words.js';
import { receivedBy, rowsOf, type KnownDeliveries, type Row } from '../rules/timeline.js';
import { texts } from '../texts.js';
import { useMay } from './may.js';
import { Table } from './table.js';
import { Instant } from './time.js';

interface Props {
  readonly entries: readonly TimelineEntry[];
  readonly sessionId: string;
}

/** Shows the timeline of a session: each response with the transition that follows from it, each event with its deliveries. */
export function TimelineList({ entries, sessionId }: Props) {
  const isAllowed = useMay()('webhooks:manage');
  const refetchInterval = useInterval();
  const deliveries = useQuery({
    queryKey: ['webhooks', 'deliveries', 'of', sessionId],
    queryFn: () => readPage(client, '/api/v1/webhook-deliveries', { subject: sessionId, limit: 200 }),
    refetchInterval,
    enabled: isAllowed,
  });
  // Without the scope, after a failed read, and beyond the first page, the deliveries of an event are unknown.
  const known =
    deliveries.data === undefined
      ? null
      : { items: deliveries.data.items, isWhole: deliveries.data.next === null };
  return (
    <Table
      label={texts.titles.whatHappened}
      rows={rowsOf(entries).map((row, index) => ({ ...row, index }))}
      keyOf={({ index }) => String(index)}
      empty={texts.timeline.nothing}
      columns={[
        { title: texts.titles.when, of: ({ at }) => <Instant at={at} /> },
        { title: texts.titles.whatHappened, of: ({ summary }) => summary },
        { title: texts.titles.whatFollowed, of: (row) => <Made row={row} known={known} /> },
      ]}
    />
  );
}

function Made({ row, known }: { readonly row: Row; readonly known: KnownDeliveries | null }) {
  if (row.made !== null)
    return (
      <>
        <strong>{wordsOf(row.made.state)}</strong>
        {row.made.isInferred && texts.values.inferred}{' '}
        <span className="soft">{texts.timeline.byRule(wordsOf(row.made.rule))}</span>
      </>
    );
  if (row.kind === 'observation') return <span className="soft">{texts.timeline.noChange}</span>;
  if (row.eventId === null) return null;
  return <span className="soft">{receivedBy(row.eventId, known)}</span>;
}
