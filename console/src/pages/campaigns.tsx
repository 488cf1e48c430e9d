import { Button, Progress as Bar } from '@mantine/core';
import { Fragment, useState } from 'react';
import type { Schemas } from '#client/client.js';
import { client } from '../api/client.js';
import { useList } from '../api/lists.js';
import { useCampaign } from '../api/queries.js';
import { Act } from '../parts/act.js';
import { Link, navigate, replaceFilters } from '../parts/link.js';
import { List } from '../parts/list.js';
import { Loaded } from '../parts/loaded.js';
import { useMay } from '../parts/may.js';
import { Badge, type Tone } from '../parts/panel.js';
import { ShortId } from '../parts/short-id.js';
import { Instant } from '../parts/time.js';
import { pathOf, type Filters } from '../rules/route.js';
import { texts } from '../texts.js';

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

const WORDS: Readonly<Record<Campaign['status'], string>> = texts.campaigns.statuses;

export function CampaignsPage({ filters }: { readonly filters: Filters }) {
  const mayAct = useMay()('users:write');
  const status = (Object.keys(WORDS) as Campaign['status'][]).find((each) => each === filters.status);
  const query = status === undefined ? { dryRun: false } : { status };
  const list = useList('campaigns', '/api/v1/campaigns', { ...query, limit: 50 });
  return (
    <>
      <div className="title">
        <h1>{texts.pages.campaigns}</h1>
        {mayAct && (
          <Button variant="filled" onClick={() => navigate(pathOf('campaigns', 'new'))}>
            {texts.import.title}
          </Button>
        )}
      </div>
      <List
        label={texts.pages.campaigns}
        list={list}
        count={texts.counts.campaign}
        order={texts.orders.newestFirst}
        keyOf={({ id }) => id}
        pageOf={({ id }) => ({ to: 'campaigns', id })}
        empty={status === undefined ? texts.campaigns.none : texts.campaigns.noneIs(WORDS[status])}
        filters={[
          {
            kind: 'choice',
            name: 'status',
            label: texts.titles.status,
            options: [['', texts.campaigns.anyButChecks], ...Object.entries(WORDS)],
          },
        ]}
        values={filters}
        onFilter={(name, value) => replaceFilters('campaigns', { ...filters, [name]: value })}
        columns={[
          {
            title: texts.titles.campaign,
            of: ({ id, name }) => (
              <Link to="campaigns" id={id}>
                {name ?? id.slice(0, 8)}
              </Link>
            ),
            text: ({ id, name }) => name ?? id,
          },
          {
            title: texts.titles.status,
            of: (each) => <Badge tone={STATUSES[each.status]}>{WORDS[each.status]}</Badge>,
            text: (each) => WORDS[each.status],
          },
          { title: texts.titles.progress, of: (each) => <Progress of={each} /> },
          {
            title: texts.titles.owners,
            of: ({ invite }) => (invite ? texts.values.areInvited : texts.values.areNotInvited),
          },
          {
            title: texts.titles.created,
            of: ({ createdAt }) => <Instant at={createdAt} />,
            text: ({ createdAt }) => createdAt,
          },
          {
            title: texts.titles.finished,
            of: ({ finishedAt }) => <Instant at={finishedAt} none={texts.values.notYet} />,
            text: ({ finishedAt }) => finishedAt,
          },
          ...(mayAct ? [{ title: texts.titles.actions, of: (each: Campaign) => <Control of={each} /> }] : []),
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
      {texts.counts.row(campaign.rows)}{' '}
      <Button onClick={() => setOpen(true)}>{texts.campaigns.countResults}</Button>
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
            <Bar aria-label={texts.campaigns.rowsWithResult} value={(100 * done) / Math.max(1, rows)} />
            <div>{texts.campaigns.progress(done, rows, perSecond, remainingSeconds)}</div>
            <div className="soft">
              {results.map(([name, count], at) => (
                <Fragment key={name}>
                  {at > 0 && ', '}
                  <Link to="campaigns" id={id} filters={{ status: name }}>
                    {texts.campaigns.resultOf(count, name)}
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

export const Control = ({ of: { id, name, status } }: { readonly of: Campaign }) => (
  <span className="actions">
    {ACTS[status].map((what) => (
      <Act
        key={what}
        label={texts.buttons[what]}
        isDanger={what === 'cancel'}
        run={() => client.POST(`/api/v1/campaigns/{id}/${what}` as const, { params: { path: { id } } })}
        done={texts.campaigns.done[what]}
        page={{ to: 'campaigns', id }}
        changes={['campaigns']}
        {...(what === 'cancel' && {
          button: texts.campaigns.cancel,
          ask: (
            <>
              <p>{texts.campaigns.named(name ?? <ShortId of={id} />)}</p>
              <p className="danger">{texts.campaigns.cancelWarning}</p>
            </>
          ),
        })}
      />
    ))}
  </span>
);
