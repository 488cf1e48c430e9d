import { Button, Progress as Bar } from '@mantine/core';
import { Fragment, useState } from 'react';
import type { Schemas } from '#client/client.js';
import { client } from '../api/client.js';
import { useList } from '../api/lists.js';
import { useCampaign } from '../api/queries.js';
import { formatSeconds } from '../format/duration.js';
import { countOf, formatNumber, startingUpper } from '../format/words.js';
import { Act } from '../parts/act.js';
import { Link, navigate, replaceFilters } from '../parts/link.js';
import { List } from '../parts/list.js';
import { Loaded } from '../parts/loaded.js';
import { useMay } from '../parts/may.js';
import { Badge, type Tone } from '../parts/panel.js';
import { ShortId } from '../parts/short-id.js';
import { Instant } from '../parts/time.js';
import { pathOf, type Filters } from '../rules/route.js';

type Campaign = Schemas['CampaignSummaryView'];
type What = 'pause' | 'resume' | 'cancel';

export const STATUSES: Readonly<Record<Campaign['status'], Tone>> = {
  checked: 'quiet',
  running: 'well',
  paused: 'attention',
  cancelled: 'ended',
  finished: 'well',
};

/** The actions that a person can take on a campaign, by its status. */
const ACTS: Readonly<Record<Campaign['status'], readonly What[]>> = {
  checked: [],
  running: ['pause', 'cancel'],
  paused: ['resume', 'cancel'],
  cancelled: [],
  finished: [],
};

export const WORDS: Readonly<Record<Campaign['status'], string>> = {
  running: 'running',
  paused: 'paused',
  finished: 'finished',
  cancelled: 'cancelled',
  checked: 'only checked',
};

export function CampaignsPage({ filters }: { readonly filters: Filters }) {
  const mayAct = useMay()('users:write');
  const status = (Object.keys(WORDS) as Campaign['status'][]).find((each) => each === filters.status);
  const query = status === undefined ? { dryRun: false } : { status };
  const list = useList('campaigns', '/api/v1/campaigns', { ...query, limit: 50 });
  return (
    <>
      <div className="title">
        <h1>Campaigns</h1>
        {mayAct && (
          <Button variant="filled" onClick={() => navigate(pathOf('campaigns', 'new'))}>
            Import customers
          </Button>
        )}
      </div>
      <List
        label="Campaigns"
        list={list}
        unit="campaign"
        order="the newest first"
        keyOf={({ id }) => id}
        pageOf={({ id }) => ({ to: 'campaigns', id })}
        empty={
          status === undefined
            ? 'No file of customers has been uploaded. Import one, here or by `import FILE` of the command line.'
            : `No campaign is ${WORDS[status]}.`
        }
        filters={[
          {
            kind: 'choice',
            name: 'status',
            label: 'Status',
            options: [['', 'any but checks'], ...Object.entries(WORDS)],
          },
        ]}
        values={filters}
        onFilter={(name, value) => replaceFilters('campaigns', { ...filters, [name]: value })}
        columns={[
          {
            title: 'Campaign',
            of: ({ id, name }) => (
              <Link to="campaigns" id={id}>
                {name ?? id.slice(0, 8)}
              </Link>
            ),
            text: ({ id, name }) => name ?? id,
          },
          {
            title: 'Status',
            of: (each) => <Badge tone={STATUSES[each.status]}>{WORDS[each.status]}</Badge>,
            text: (each) => WORDS[each.status],
          },
          { title: 'Progress', of: (each) => <Progress of={each} /> },
          { title: 'Owners', of: ({ invite }) => (invite ? 'are invited' : 'are not invited') },
          {
            title: 'Created',
            of: ({ createdAt }) => <Instant at={createdAt} />,
            text: ({ createdAt }) => createdAt,
          },
          {
            title: 'Finished',
            of: ({ finishedAt }) => <Instant at={finishedAt} none="not yet" />,
            text: ({ finishedAt }) => finishedAt,
          },
          ...(mayAct ? [{ title: 'Actions', of: (each: Campaign) => <Control of={each} /> }] : []),
        ]}
      />
    </>
  );
}

/**
 * Reads the counts of rows at once if the campaign is under way, otherwise on request: the counts of each campaign take a request of their
 * own.
 */
function Progress({ of: campaign }: { readonly of: Campaign }) {
  const isUnderWay = campaign.status === 'running' || campaign.status === 'paused';
  const [isOpen, setOpen] = useState(isUnderWay);
  if (isOpen) return <Counts of={campaign} />;
  return (
    <>
      {countOf(campaign.rows, 'row')} <Button onClick={() => setOpen(true)}>Count the results</Button>
    </>
  );
}

/** Shows how many rows have each result. */
export function Counts({ of: { id, rows } }: { readonly of: Campaign }) {
  const campaign = useCampaign(id);
  return (
    <Loaded query={campaign}>
      {({ counts, perSecond, remainingSeconds }) => {
        const done = rows - counts.accepted - counts.cancelled;
        const results = Object.entries(counts).filter(([, count]) => count > 0);
        return (
          <>
            <Bar aria-label="Rows with a result" value={(100 * done) / Math.max(1, rows)} />
            <div>
              {formatNumber(done)} of {countOf(rows, 'row')}
              {perSecond !== null && `, ${formatNumber(perSecond)} rows/s`}
              {remainingSeconds !== null && `, ${formatSeconds(remainingSeconds)} left`}
            </div>
            <div className="soft">
              {results.map(([name, count], at) => (
                <Fragment key={name}>
                  {at > 0 && ', '}
                  <Link to="campaigns" id={id} filters={{ status: name }}>
                    {formatNumber(count)} {name}
                  </Link>
                </Fragment>
              ))}
            </div>
          </>
        );
      }}
    </Loaded>
  );
}

const DONE: Readonly<Record<What, string>> = {
  pause: 'The campaign is paused. Its rows wait.',
  resume: 'The campaign goes on.',
  cancel: 'The campaign is cancelled.',
};

export const Control = ({ of: { id, name, status } }: { readonly of: Campaign }) => (
  <span className="actions">
    {ACTS[status].map((what) => (
      <Act
        key={what}
        label={startingUpper(what)}
        isDanger={what === 'cancel'}
        run={() => client.POST(`/api/v1/campaigns/{id}/${what}` as const, { params: { path: { id } } })}
        done={DONE[what]}
        page={{ to: 'campaigns', id }}
        changes={['campaigns']}
        {...(what === 'cancel' && {
          button: 'Cancel the campaign',
          ask: (
            <>
              <p>
                Campaign <strong>{name ?? <ShortId of={id} />}</strong>
              </p>
              <p className="danger">Its rows without a result are never registered. It cannot be resumed.</p>
            </>
          ),
        })}
      />
    ))}
  </span>
);
