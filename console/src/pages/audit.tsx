import { useList } from '../api/lists.js';
import { Copy } from '../parts/copy.js';
import { replaceFilters } from '../parts/link.js';
import { List } from '../parts/list.js';
import { Instant } from '../parts/time.js';
import { wordsOf } from '../format/words.js';
import type { Filters } from '../rules/route.js';

/** Shows who did what, the newest first. */
export function AuditPage({ filters }: { readonly filters: Filters }) {
  const { targets } = filters;
  const list = useList('audit', '/api/v1/audit-log', { targets, limit: 100 });
  return (
    <>
      <h1>Audit log</h1>
      <p className="soft">Who has decided, revoked, erased or changed something. The newest first.</p>
      <List
        label="Audit log"
        list={list}
        unit="entry"
        units="entries"
        keyOf={({ id }) => String(id)}
        empty="Nothing is recorded."
        filters={[{ kind: 'text', name: 'targets', label: 'Of (id)', placeholder: 'id, id …' }]}
        values={filters}
        onFilter={(name, value) => replaceFilters('audit', { ...filters, [name]: value })}
        columns={[
          { title: 'When', of: ({ at }) => <Instant at={at} />, text: ({ at }) => at },
          { title: 'Who', of: ({ actor, keyName }) => keyName ?? actor },
          { title: 'Actor', of: ({ actor }) => <code>{actor}</code>, text: ({ actor }) => actor },
          {
            title: 'What',
            of: ({ action }) => wordsOf(action.replaceAll('.', ' ')),
          },
          {
            title: 'Of',
            of: ({ target }) => target !== null && <Copy text={target} />,
            text: ({ target }) => target,
          },
          {
            title: 'Details',
            of: ({ details }) => <span className="long">{detailsOf(details)}</span>,
            text: ({ details }) => detailsOf(details),
          },
        ]}
      />
    </>
  );
}

const detailsOf = (details: Readonly<Record<string, unknown>>): string =>
  Object.entries(details)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('; ');
