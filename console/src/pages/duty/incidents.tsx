import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Status } from '../../api/client.js';
import { countOf } from '../../format/words.js';
import { Copy } from '../../parts/copy.js';
import { Link } from '../../parts/link.js';
import { Badge } from '../../parts/panel.js';
import { Remedies } from '../../parts/remedies.js';
import { Sentence } from '../../parts/sentence.js';
import { Instant } from '../../parts/time.js';
import { incidentsOf, type Incident } from '../../rules/incidents.js';
import { PREFIX } from '../../rules/prefix.js';
import { PAGE_OF } from '../../rules/verdict.js';

const WHOSE = { us: 'ours', remote_service: 'theirs', tenant: 'yours' } as const;

/** Shows one card for each incident: what is wrong, what follows from it, who has to act, and what can be done. */
export function Incidents({ status: { reasons } }: { readonly status: Status }) {
  const [isOpen, setOpen] = useState(false);
  if (reasons.length === 0) return null;
  const incidents = incidentsOf(reasons);
  return (
    <>
      <ol className="reasons" aria-label="What is wrong, the worst first">
        {incidents.slice(0, isOpen ? undefined : MOST_CARDS).map((incident) => (
          <Card key={incident.cause.code} of={incident} />
        ))}
      </ol>
      {incidents.length > MOST_CARDS && (
        <p>
          <Button variant="subtle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {isOpen ? 'Only the worst' : countOf(incidents.length - MOST_CARDS, 'more incident')}
          </Button>
        </p>
      )}
    </>
  );
}

/** With more, the page would not fit on one screen. */
const MOST_CARDS = 3;

function Card({ of: { cause, alike, symptoms } }: { readonly of: Incident }) {
  const { code, title, detail, since, waitsFor, runbook, remedies } = cause;
  const page = PAGE_OF[code];
  return (
    <li>
      <p>
        <strong>{page === undefined ? title : <Link to={page}>{title}</Link>}</strong>{' '}
        <Badge tone={waitsFor === 'us' ? 'attention' : 'quiet'}>{WHOSE[waitsFor]}</Badge>
      </p>
      {[detail, ...alike.map((each) => each.detail)].map((text) => (
        <p key={text}>
          <Sentence text={startingUpper(text)} />
        </p>
      ))}
      {symptoms.length > 0 && (
        <p className="soft">
          From it, probably: {[...new Set(symptoms.map((each) => each.title))].join('; ')}.
        </p>
      )}
      <p className="soft apart">
        {since !== null && (
          <span>
            Since <Instant at={since} />
          </span>
        )}
        <Runbook of={runbook} />
      </p>
      <Remedies
        of={{ before: null, remedies: remedies.map((each) => ({ ...each, body: null, confirm: null })) }}
        page={null}
      />
    </li>
  );
}

/** A link to a section of the guides; where the service shows no guides, its address in the repository is copied. */
function Runbook({ of: runbook }: { readonly of: string }) {
  const guides = useQuery({
    queryKey: ['guides'],
    queryFn: async () => (await fetch(`${PREFIX}/docs`, { method: 'HEAD' })).ok,
    staleTime: Infinity,
  });
  const text = `Runbook: ${sectionOf(runbook)}`;
  if (guides.data !== true) return <Copy text={runbook}>{text}</Copy>;
  return (
    <a href={`${PREFIX}/${runbook.replace('.md', '')}`} target="_blank">
      {text}
    </a>
  );
}

const startingUpper = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Returns the name of the section of a document that a link leads to. */
const sectionOf = (runbook: string): string => runbook.replace(/^.*#/, '').replaceAll('-', ' ');
