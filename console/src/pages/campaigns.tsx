import { useMutation } from '@tanstack/react-query';
import type { Schemas } from '#client/client.js';
import { client } from '../api/client.js';
import { useList } from '../api/lists.js';
import { queries } from '../api/queries.js';
import { countOf } from '../format/words.js';
import { List } from '../parts/list.js';
import { failureOf } from '../parts/loaded.js';
import { useMay } from '../parts/may.js';
import { Badge, type Tone } from '../parts/panel.js';
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

/** What a person can do about a campaign. */
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
        empty="No file of customers has been uploaded: POST /api/v1/campaigns."
        columns={[
          { title: 'Campaign', of: ({ id, name }) => <strong>{name ?? id.slice(0, 8)}</strong> },
          { title: 'Status', of: ({ status }) => <Badge tone={STATUSES[status]}>{status}</Badge> },
          { title: 'Rows', of: ({ rows }) => countOf(rows, 'row') },
          { title: 'Owners', of: ({ invite }) => (invite ? 'are invited' : 'are not invited') },
          { title: 'Created', of: ({ createdAt }) => <Instant at={createdAt} /> },
          { title: 'Finished', of: ({ finishedAt }) => <Instant at={finishedAt} none="not yet" /> },
          ...(mayAct ? [{ title: 'Control', of: (each: Campaign) => <Control of={each} /> }] : []),
        ]}
      />
    </>
  );
}

function Control({ of: { id, status } }: { readonly of: Campaign }) {
  const act = useMutation({
    mutationFn: (what: Act) => {
      const params = { path: { id } };
      switch (what) {
        case 'pause':
          return client.POST('/api/v1/campaigns/{id}/pause', { params });
        case 'resume':
          return client.POST('/api/v1/campaigns/{id}/resume', { params });
        case 'cancel':
          return client.POST('/api/v1/campaigns/{id}/cancel', { params });
      }
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['campaigns'] }),
  });
  if (ACTS[status].length === 0) return <span className="soft">–</span>;
  return (
    <span className="actions">
      {ACTS[status].map((what) => (
        <button
          key={what}
          type="button"
          className={what === 'cancel' ? 'small danger' : 'small'}
          disabled={act.isPending}
          onClick={() => act.mutate(what)}
        >
          {{ pause: 'Pause', resume: 'Resume', cancel: 'Cancel' }[what]}
        </button>
      ))}
      {act.isError && (
        <span className="failure" role="alert">
          {failureOf(act.error)}
        </span>
      )}
    </span>
  );
}
