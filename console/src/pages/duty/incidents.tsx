import type { Status } from '../../api/client.js';
import { Copy } from '../../parts/copy.js';
import { Link } from '../../parts/link.js';
import { Badge } from '../../parts/panel.js';
import { Remedies } from '../../parts/remedies.js';
import { Sentence } from '../../parts/sentence.js';
import { Instant } from '../../parts/time.js';
import { incidentsOf, type Incident } from '../../rules/incidents.js';
import { WAITS_FOR } from '../../rules/stalled.js';
import { PAGE_OF } from '../../rules/verdict.js';

const WHOSE = { us: 'ours', remote_service: 'theirs', tenant: 'yours' } as const;

/** Shows one card for each incident: what is wrong, what follows from it, who has to act, and what can be done. */
export function Incidents({ status: { reasons } }: { readonly status: Status }) {
  if (reasons.length === 0) return null;
  return (
    <ol className="reasons" aria-label="What is wrong, the worst first">
      {incidentsOf(reasons).map((incident) => (
        <Card key={incident.cause.code + incident.cause.detail} of={incident} />
      ))}
    </ol>
  );
}

function Card({ of: { cause, symptoms } }: { readonly of: Incident }) {
  const { code, title, detail, since, waitsFor, runbook, remedies } = cause;
  const page = PAGE_OF[code];
  return (
    <li>
      <p>
        <strong>{page === undefined ? title : <Link to={page}>{title}</Link>}</strong>{' '}
        <Badge tone={waitsFor === 'us' ? 'attention' : 'quiet'}>{WHOSE[waitsFor]}</Badge>
      </p>
      <p>
        <Sentence text={detail} />
      </p>
      {symptoms.length > 0 && (
        <p className="soft">From it, probably: {symptoms.map((each) => each.title).join('; ')}.</p>
      )}
      <p className="soft">
        {WAITS_FOR[waitsFor]}
        {since !== null && (
          <>
            {' · since '}
            <Instant at={since} />
          </>
        )}
        {' · '}
        <Copy text={runbook}>Runbook: {sectionOf(runbook)}</Copy>
      </p>
      <Remedies
        of={{ before: null, remedies: remedies.map((each) => ({ ...each, body: null, confirm: null })) }}
        page={null}
      />
    </li>
  );
}

/** Returns the name of the section of a document that a link leads to. */
const sectionOf = (runbook: string): string => runbook.replace(/^.*#/, '').replaceAll('-', ' ');
