import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Schemas } from '#client/client.js';
import { client } from '../api/client.js';
import { useList } from '../api/lists.js';
import { POLL_MS } from '../api/live.js';
import { invalidate } from '../api/queries.js';
import { formatSeconds } from '../format/duration.js';
import { countOf, formatNumber } from '../format/words.js';
import { Dialog } from '../parts/dialog.js';
import { List } from '../parts/list.js';
import { Failure, Loaded } from '../parts/loaded.js';
import { useMay } from '../parts/may.js';
import { Badge, type Tone } from '../parts/panel.js';
import { ShortId } from '../parts/short-id.js';
import { Instant } from '../parts/time.js';

type Campaign = Schemas['CampaignSummaryView'];
type Act = 'pause' | 'resume' | 'cancel';

const STATUSES: Readonly<Record<Campaign['status'], Tone>> = {
  checked: 'quiet',
  running: 'well',
  paused: 'attention',
  cancelled: 'unknown',
  finished: 'well',
};

/** The actions that a person can take on a campaign, by its status. */
const ACTS: Readonly<Record<Campaign['status'], readonly Act[]>> = {
  checked: [],
  running: ['pause', 'cancel'],
  paused: ['resume', 'cancel'],
  cancelled: [],
  finished: [],
};

export function CampaignsPage() {
  const mayAct = useMay()('users:write');
  const list = useList('campaigns', '/api/v1/campaigns', { limit: 50 });
  return (
    <>
      <h1>Campaigns</h1>
      <List
        label="Campaigns"
        list={list}
        unit="campaign"
        keyOf={({ id }) => id}
        empty="No file of customers has been uploaded. The command pv-onboarding import uploads one."
        columns={[
          { title: 'Campaign', of: ({ id, name }) => <strong>{name ?? <ShortId of={id} />}</strong> },
          { title: 'Status', of: ({ status }) => <Badge tone={STATUSES[status]}>{status}</Badge> },
          { title: 'Progress', of: (each) => <Progress of={each} /> },
          { title: 'Owners', of: ({ invite }) => (invite ? 'are invited' : 'are not invited') },
          { title: 'Created', of: ({ createdAt }) => <Instant at={createdAt} /> },
          { title: 'Finished', of: ({ finishedAt }) => <Instant at={finishedAt} none="not yet" /> },
          ...(mayAct ? [{ title: 'Control', of: (each: Campaign) => <Control of={each} /> }] : []),
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
      {countOf(campaign.rows, 'row')}{' '}
      <button type="button" className="small" onClick={() => setOpen(true)}>
        Count the results
      </button>
    </>
  );
}

/** Shows how many rows have each result. */
function Counts({ of: { id, status, rows } }: { readonly of: Campaign }) {
  const campaign = useQuery({
    queryKey: ['campaigns', id],
    queryFn: async () => (await client.GET('/api/v1/campaigns/{id}', { params: { path: { id } } })).data,
    refetchInterval: status === 'running' ? POLL_MS : false,
  });
  return (
    <Loaded query={campaign}>
      {({ counts, perSecond, remainingSeconds }) => {
        const done = rows - counts.accepted - counts.cancelled;
        const results = Object.entries(counts).filter(([, count]) => count > 0);
        return (
          <>
            <progress aria-label="Rows with a result" max={Math.max(1, rows)} value={done} />
            <div>
              {formatNumber(done)} of {countOf(rows, 'row')}
              {perSecond !== null && `, ${formatNumber(perSecond)} rows/s`}
              {remainingSeconds !== null && `, ${formatSeconds(remainingSeconds)} left`}
            </div>
            <div className="soft">
              {results.map(([name, count]) => `${formatNumber(count)} ${name}`).join(', ')}
            </div>
          </>
        );
      }}
    </Loaded>
  );
}

function Control({ of: { id, name, status } }: { readonly of: Campaign }) {
  const [isAsked, setAsked] = useState(false);
  const act = useMutation({
    mutationFn: (what: Act) =>
      client.POST(`/api/v1/campaigns/{id}/${what}` as const, { params: { path: { id } } }),
    onSettled: () => invalidate('campaigns'),
  });
  if (ACTS[status].length === 0) return <span className="soft">–</span>;
  return (
    <>
      <span className="actions">
        {ACTS[status].map((what) => (
          <button
            key={what}
            type="button"
            className={what === 'cancel' ? 'small danger' : 'small'}
            disabled={act.isPending}
            onClick={() => (what === 'cancel' ? setAsked(true) : act.mutate(what))}
          >
            {{ pause: 'Pause', resume: 'Resume', cancel: 'Cancel' }[what]}
          </button>
        ))}
      </span>
      {isAsked && (
        <Dialog
          title="Cancel the campaign"
          button="Cancel the campaign"
          isDanger
          onSubmit={() => {
            setAsked(false);
            act.mutate('cancel');
          }}
          onClose={() => setAsked(false)}
        >
          <p>
            Campaign <strong>{name ?? <ShortId of={id} />}</strong>
          </p>
          <p className="danger">Its rows without a result are never registered. It cannot be resumed.</p>
        </Dialog>
      )}
      <Failure of={act.error} />
    </>
  );
}
