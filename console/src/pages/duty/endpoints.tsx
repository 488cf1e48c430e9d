import type { History } from '../../api/client.js';
import { useEndpoints } from '../../api/queries.js';
import { useNow } from '../../parts/clock.js';
import { Link } from '../../parts/link.js';
import { Empty, Loaded } from '../../parts/loaded.js';
import { Badge, Panel } from '../../parts/panel.js';
import { Trend } from '../../parts/trend.js';
import { silenceOf } from '../../rules/silence.js';
import { texts } from '../../texts.js';

const MOST = 8;
const ORDER = ['attention', 'quiet', 'well'];

/** Shows the endpoints, the failing ones first. A sentence explains the state of each. */
export function EndpointsPanel({ history }: { readonly history: History | undefined }) {
  const endpoints = useEndpoints();
  const now = useNow();
  return (
    <Panel title={texts.endpoints.title} more={<Link to="webhooks">{texts.pages.webhooks}</Link>}>
      <Loaded query={endpoints}>
        {({ items }) => {
          if (items.length === 0) return <Empty>{texts.endpoints.none}</Empty>;
          const all = items
            .map((endpoint) => ({ endpoint, ...silenceOf(endpoint, now) }))
            .sort((a, b) => ORDER.indexOf(a.tone) - ORDER.indexOf(b.tone));
          return (
            <>
              <ul className="needs">
                {all.slice(0, MOST).map(({ endpoint, tone, sentence }) => (
                  <li key={endpoint.id}>
                    <p className="address">
                      <Link to="webhooks" id={endpoint.id}>
                        {endpoint.url}
                      </Link>
                    </p>
                    <p>
                      <Badge tone={tone}>{texts.silence.words[tone]}</Badge> {sentence}
                    </p>
                  </li>
                ))}
              </ul>
              {all.length > MOST && <p className="more">{texts.endpoints.more(all.length - MOST)}</p>}
            </>
          );
        }}
      </Loaded>
      <Trend title={texts.endpoints.failing} history={history} of={(point) => point.failingEndpoints} />
    </Panel>
  );
}
