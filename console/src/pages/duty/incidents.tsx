import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Status } from '../../api/client.js';
import { useActs } from '../../api/queries.js';
import { startingUpper } from '../../format/words.js';
import { Copy } from '../../parts/copy.js';
import { LastAct } from '../../parts/last-act.js';
import { Link } from '../../parts/link.js';
import { useMay } from '../../parts/may.js';
import { Badge } from '../../parts/panel.js';
import { Remedies } from '../../parts/remedies.js';
import { Sentence } from '../../parts/sentence.js';
import { Instant } from '../../parts/time.js';
import { incidentsOf, type Incident } from '../../rules/incidents.js';
import { plainly } from '../../rules/sentence.js';
import { triedByService } from '../../rules/tried.js';
import { PREFIX } from '../../rules/prefix.js';
import { PAGE_OF } from '../../rules/verdict.js';
import { texts } from '../../texts.js';

/** Shows one card for each incident: what is wrong, what follows from it, who has to act, and what can be done. */
export function Incidents({ status }: { readonly status: Status }) {
  const { reasons } = status;
  const [isOpen, setOpen] = useState(false);
  if (reasons.length === 0) return null;
  const incidents = incidentsOf(reasons);
  return (
    <>
      <ol className="reasons" aria-label={texts.incidents.label}>
        {incidents.slice(0, isOpen ? undefined : MOST_CARDS).map((incident) => (
          <Card key={incident.cause.code} of={incident} status={status} />
        ))}
      </ol>
      {incidents.length > MOST_CARDS && (
        <p>
          <Button variant="subtle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {isOpen ? texts.incidents.onlyTheWorst : texts.incidents.more(incidents.length - MOST_CARDS)}
          </Button>
        </p>
      )}
    </>
  );
}

/** With more, the page would not fit on one screen. */
const MOST_CARDS = 3;

interface CardProps {
  readonly of: Incident;
  readonly status: Status;
}

function Card({ of: { cause, alike, symptoms }, status }: CardProps) {
  const { code, title, detail, since, waitsFor, runbook, remedies } = cause;
  const page = PAGE_OF[code];
  return (
    <li>
      <p>
        <strong>{page === undefined ? title : <Link to={page}>{title}</Link>}</strong>{' '}
        <Badge tone={waitsFor === 'us' ? 'attention' : 'quiet'}>{texts.incidents.whose[waitsFor]}</Badge>
      </p>
      {[detail, ...alike.map((each) => each.detail)].map((text) => (
        <p key={text}>
          <Sentence text={startingUpper(plainly(text))} />
        </p>
      ))}
      {symptoms.length > 0 && (
        <p className="soft">{texts.incidents.symptoms([...new Set(symptoms.map((each) => each.title))])}</p>
      )}
      <Tried of={cause} status={status} />
      <p className="soft apart">
        {since !== null && <span>{texts.stall.since(<Instant at={since} />)}</span>}
        <Runbook of={runbook} />
      </p>
      <Remedies
        of={{ before: null, remedies: remedies.map((each) => ({ ...each, body: null, confirm: null })) }}
        page={null}
      />
    </li>
  );
}

/** The actions by which the audit log has the remedies of reasons. */
const ACTION_OF: Readonly<Record<string, string>> = { probeCredentials: 'credentials.probed' };

interface TriedProps {
  readonly of: Incident['cause'];
  readonly status: Status;
}

/** Shows what the service has tried, and what a person has tried last. */
function Tried({ of: cause, status }: TriedProps) {
  const may = useMay();
  const { since, remedies } = cause;
  const action = remedies.flatMap(({ operationId }) => ACTION_OF[operationId] ?? [])[0];
  const acts = useActs(action === undefined || !may('admin') ? null : { action, ...(since && { since }) });
  const byService = triedByService(cause, status);
  if (byService === null && !acts.data?.length) return null;
  return (
    <p className="soft">
      {texts.incidents.tried(
        byService !== null && <Sentence text={byService} />,
        <LastAct of={acts.data ?? []} />,
      )}
    </p>
  );
}

/** A link to a section of the guides; where the service shows no guides, its address in the repository is copied. */
function Runbook({ of: runbook }: { readonly of: string }) {
  const guides = useQuery({
    queryKey: ['guides'],
    queryFn: async () => (await fetch(`${PREFIX}/docs`, { method: 'HEAD' })).ok,
    staleTime: Infinity,
  });
  const text = texts.incidents.runbook(sectionOf(runbook));
  if (guides.data !== true) return <Copy text={runbook}>{text}</Copy>;
  return (
    <a href={`${PREFIX}/${runbook.replace('.md', '')}`} target="_blank">
      {text}
    </a>
  );
}

/** Returns the name of the section of a document that a link leads to. */
const sectionOf = (runbook: string): string => runbook.replace(/^.*#/, '').replaceAll('-', ' ');
