import { useQuery } from '@tanstack/react-query';
import { useInterval } from '../api/queries.js';
import { formatInstant } from '../format/instant.js';
import { HOURS, successOf, type Hour } from '../rules/success.js';
import { Empty, Loaded } from './loaded.js';
import { Panel } from './panel.js';
import { readUpTo } from '../api/lists.js';
import { texts } from '../texts.js';

/** The most pages of 200 deliveries that are counted. */
const MOST_PAGES = 5;

/** Shows how many deliveries to an endpoint were delivered, hour by hour. */
export function Success({ endpointId }: { readonly endpointId: string }) {
  const refetchInterval = useInterval(true);
  const tried = useQuery({
    queryKey: ['webhooks', 'success', endpointId],
    queryFn: () => readTried(endpointId),
    refetchInterval,
  });
  return (
    <Panel title={texts.success.title} isWide>
      <Loaded query={tried}>{(found) => <Bars {...found} />}</Loaded>
    </Panel>
  );
}

async function readTried(endpointId: string) {
  const now = new Date();
  const since = new Date(now.getTime() - HOURS * 3_600_000).toISOString();
  const query = { endpointId, tried: 'true' as const, since };
  const { items, isPart } = await readUpTo(MOST_PAGES, '/api/v1/webhook-deliveries', query);
  return { hours: successOf(items, now), isPart };
}

interface Props {
  readonly hours: readonly Hour[];
  /** Whether older deliveries were not counted. */
  readonly isPart: boolean;
}

function Bars({ hours, isPart }: Props) {
  const most = Math.max(...hours.map(({ delivered, failed }) => delivered + failed));
  if (most === 0) return <Empty>{texts.success.nothing}</Empty>;
  const delivered = hours.reduce((sum, each) => sum + each.delivered, 0);
  const failed = hours.reduce((sum, each) => sum + each.failed, 0);
  const caption = texts.success.caption(delivered, failed, isPart);
  return (
    <figure className="success">
      <svg viewBox={`0 0 ${HOURS * 10} 40`} preserveAspectRatio="none" role="img" aria-label={caption}>
        {hours.map(({ at, ...counts }, index) => {
          const [good, bad] = [(40 * counts.delivered) / most, (40 * counts.failed) / most];
          return (
            <g key={at.toISOString()}>
              <title>
                {texts.success.hour(formatInstant(at, new Date()), counts.delivered, counts.failed)}
              </title>
              <rect x={index * 10 + 1} y={40 - good} width={8} height={good} />
              <rect className="bad" x={index * 10 + 1} y={40 - good - bad} width={8} height={bad} />
            </g>
          );
        })}
      </svg>
      <div className="ends">
        <span>{texts.success.dayAgo}</span>
        <span>{texts.success.now}</span>
      </div>
      <figcaption>{caption}</figcaption>
    </figure>
  );
}
