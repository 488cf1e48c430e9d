import type { History, Status } from '../../api/client.js';
import { useMay } from '../../parts/may.js';
import { texts } from '../../texts.js';
import { EndpointsPanel } from './endpoints.js';
import { FunnelPanel } from './funnel.js';
import { OperationsPanel } from './operations.js';
import { DatabasePanel, ReplicasPanel } from './processes.js';
import { ReadersPanel } from './readers.js';
import { ReadingPanel } from './reading.js';
import { OursPanel, StalledPanel } from './sessions.js';
import { TroublesPanel } from './troubles.js';
import { type Hours, type View } from './views.js';

interface Props {
  readonly view: View;
  readonly hours: Hours;
  readonly history: History | undefined;
  readonly status: Status | undefined;
}

/** The panels of a tab. Those of lists wait neither for the status nor for each other. */
export function Charts({ view, hours, history, status }: Props) {
  const may = useMay();
  const overview = status && { status, history };
  switch (view) {
    case 'past':
      return <TroublesPanel history={history} status={status} length={texts.duty.ranges[hours]} />;
    case 'remote':
      return overview && <OperationsPanel {...overview} />;
    case 'freshness':
      return overview && <ReadingPanel {...overview} />;
    case 'customers':
      return (
        <>
          <StalledPanel history={history} />
          {overview && <OursPanel {...overview} />}
          <FunnelPanel />
        </>
      );
    case 'events':
      return (
        <>
          {may('webhooks:manage') && <EndpointsPanel history={history} />}
          {overview && <ReadersPanel {...overview} />}
        </>
      );
    case 'processes':
      return (
        overview && (
          <>
            <DatabasePanel {...overview} />
            <ReplicasPanel {...overview} />
          </>
        )
      );
  }
}
