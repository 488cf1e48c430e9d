import { useQuery } from '@tanstack/react-query';
import type { Schemas } from '#client/client.js';
import { readUpTo, useList } from '../api/lists.js';
import { Copy } from '../parts/copy.js';
import { replaceFilters } from '../parts/link.js';
import { List } from '../parts/list.js';
import { IdLink, ShortId } from '../parts/short-id.js';
import { Instant } from '../parts/time.js';
import { actionWords, actorWords, detailsOf, pageOfTarget, withoutConsole } from '../rules/audit.js';
import type { Filters } from '../rules/route.js';
import { texts } from '../texts.js';

type Entry = Schemas['AuditEntryView'];

/** Shows who did what. */
export function AuditPage({ filters }: { readonly filters: Filters }) {
  const { targets, actor, action, from, to } = filters;
  const list = useList('audit', '/api/v1/audit-log', {
    targets,
    actor,
    action,
    since: dayIn(from, 0),
    before: dayIn(to, 1),
    limit: 100,
  });
  // The filters offer what the newest entries have.
  const newest = useQuery({
    queryKey: ['audit', 'newest'],
    queryFn: async () => (await readUpTo(1, '/api/v1/audit-log', {})).items,
  });
  const actors = new Map((newest.data ?? []).map((each) => [withoutConsole(each.actor), nameOf(each)]));
  if (actor !== undefined && !actors.has(actor)) actors.set(actor, actor);
  const actions = new Set([...(newest.data ?? []).map((each) => each.action), ...(action ? [action] : [])]);
  return (
    <>
      <h1>{texts.pages.audit}</h1>
      <p className="soft">{texts.audit.explanation}</p>
      <List
        label={texts.pages.audit}
        list={list}
        count={texts.counts.entry}
        order={texts.orders.newestFirst}
        keyOf={({ id }) => String(id)}
        empty={Object.keys(filters).length > 0 ? texts.audit.noneMatches : texts.audit.none}
        filters={[
          {
            kind: 'choice',
            name: 'actor',
            label: texts.titles.who,
            options: [['', texts.values.anybody], ...actors],
          },
          {
            kind: 'choice',
            name: 'action',
            label: texts.titles.what,
            options: [
              ['', texts.values.anything],
              ...[...actions].sort().map((each) => [each, actionWords(each)] as const),
            ],
          },
          { kind: 'date', name: 'from', label: texts.titles.from },
          { kind: 'date', name: 'to', label: texts.titles.to },
          { kind: 'text', name: 'targets', label: texts.titles.doneTo, placeholder: texts.audit.anId },
        ]}
        values={filters}
        onFilter={(name, value) => replaceFilters('audit', { ...filters, [name]: value })}
        columns={[
          { title: texts.titles.when, of: ({ at }) => <Instant at={at} />, text: ({ at }) => at },
          { title: texts.titles.who, of: (entry) => actorWords(entry), text: (entry) => actorWords(entry) },
          {
            title: texts.titles.actor,
            of: (entry) => <Copy text={entry.actor} />,
            text: (entry) => entry.actor,
            isHidden: true,
          },
          {
            title: texts.titles.what,
            of: (entry) => actionWords(entry.action),
            text: (entry) => entry.action,
          },
          { title: texts.titles.doneTo, of: (entry) => <Done to={entry} />, text: ({ target }) => target },
          {
            title: texts.titles.details,
            of: ({ details }) => detailsOf(details),
            isText: true,
          },
        ]}
      />
    </>
  );
}

const nameOf = ({ actor, keyName }: Entry) => actorWords({ actor: withoutConsole(actor), keyName });

/** Returns the instant at which a day begins in the time zone of the person, or the day that comes `later` days after it. */
function dayIn(day: string | undefined, later: number): string | undefined {
  if (day === undefined) return undefined;
  const [year, month, date] = day.split('-').map(Number);
  const at = new Date(year ?? NaN, (month ?? NaN) - 1, (date ?? NaN) + later);
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}

/** Shows what something was done to, with a link to its page. */
function Done({ to: entry }: { readonly to: Entry }) {
  const { target } = entry;
  const page = pageOfTarget(entry);
  if (target === null) return null;
  if (page !== null) return <IdLink {...page} of={target} />;
  return target.length > 20 ? <ShortId of={target} /> : target;
}
