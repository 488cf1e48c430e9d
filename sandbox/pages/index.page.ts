import { markup, page, type Html } from './markup.js';
import { FAULT_KINDS, type describeFault, type FaultScript } from '../faults.js';
import { OPERATIONS } from '../ledger.js';
import type { Session } from '../session.js';
import type { User } from '../state.js';

export const ROWS = 50;

/** A session with its customer, or a customer without a session. */
export interface Row {
  readonly user: User;
  readonly session: Session | null;
}

interface Content {
  /** Those of this page. */
  readonly rows: readonly Row[];
  /** How many the search has found. */
  readonly found: number;
  readonly q: string;
  readonly start: number;
  readonly faults: readonly ReturnType<typeof describeFault>[];
}

/** Returns the buttons of the faults after which a request has its effect, or of the others. */
const buttonsOf = (isDone: boolean): Html[] =>
  FAULT_KINDS.filter((kind) => WORDS[kind].startsWith('Done') === isDone).map(
    (kind) =>
      markup`<button class="small" name="kind" value="${kind}" title="${WORDS[kind]}">${LABELS[kind] ?? kind}</button>`,
  );

export const indexPage = ({ rows, found, q, start, faults }: Content): Html =>
  page(
    'Sandbox',
    markup`<main class="wide">
      <h1>Sandbox of the Solar Curtailment Service</h1>
      <p class="note">
        The data of the remote service. <a href="/">Refresh</a> ·
        <a href="/sandbox/ledger">ledger</a> · <a href="/sandbox/settings">settings</a> ·
        <a href="/sandbox/scenarios">scenarios</a>
      </p>
      <h2>Faults</h2>
      <p class="note">Each button makes one request fail. Clear all lets go those that are held. The control API can do more.</p>
      <form method="post" action="/play/faults" class="row">
        <label>Of
          <select name="operation">
            ${['any', ...OPERATIONS].map((operation) =>
              operation === faults.at(-1)?.operation
                ? markup`<option selected>${operation}</option>`
                : markup`<option>${operation}</option>`,
            )}
          </select></label>
        <button class="small" name="kind" value="">Clear all</button>
        <div>Done, but the response is late or lost: ${buttonsOf(true)}</div>
        <div>Not done: ${buttonsOf(false)}</div>
      </form>
      ${
        faults.length === 0
          ? markup``
          : table(
              ['Fault', 'Of', 'Still to come', 'Used'],
              faults.map(
                ({ kind, operation, left, used }) =>
                  markup`<tr><td>${kind}</td><td>${operation}</td><td>${left ?? 'all'}</td><td>${used}</td></tr>`,
              ),
            )
      }
      <h2>Customers (${found})</h2>
      <form class="row" role="search">
        <input type="search" name="q" value="${q}" aria-label="Reference, EAN or id" placeholder="Reference, EAN or id">
        <button class="small">Search</button>
      </form>
      ${found === 0 ? markup`<p>${q === '' ? 'None yet.' : 'None has this reference, EAN or id.'}</p>` : table(['Customer', 'Session', 'State', 'Do'], rows.map(rowOf))}
      <p>${pageLink('Previous', q, start - ROWS, found)} ${pageLink('Next', q, start + ROWS, found)}</p>
    </main>`,
  );

/** What the buttons of the page set beyond the kind. */
export const FAULT_BUTTONS: { readonly [K in FaultScript['kind']]?: Partial<FaultScript> } = {
  delay: { delayMs: 5_000 },
  answer: { status: 503 },
};
const WORDS: Readonly<Record<FaultScript['kind'], string>> = {
  delay: 'Done, and answered 5 s late',
  hold: 'Done, and answered once all faults are cleared',
  answer: 'Not done: 503',
  redirect: 'Not done: sent to another address',
  too_many_requests: 'Not done: 429 with Retry-After',
  html: 'Not done: 200 with a page, as a gateway does',
  reset: 'Not done: the connection is reset',
  truncate: 'Done, but half of the response is lost',
  drip: 'Done, and answered byte by byte',
  stall: 'Not done, and never answered',
};
const LABELS: { readonly [K in FaultScript['kind']]?: string } = {
  delay: 'delay (5 s)',
  answer: 'answer (503)',
};

const pageLink = (text: string, q: string, start: number, found: number): Html =>
  start < 0 || start >= found
    ? markup``
    : markup`<a href="/?${new URLSearchParams({ q, start: String(start) }).toString()}">${text}</a>`;

const table = (headings: readonly string[], rows: readonly Html[]): Html =>
  markup`<div class="scroll">
    <table>
      <thead>
        <tr>
          ${headings.map((heading) => markup`<th scope="col">${heading}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;

const rowOf = ({ user, session }: Row): Html =>
  markup`<tr>
    <td>
      <strong>${user.tenantReference}</strong><br><code>${user.id}</code>
      ${user.gridLocations.map(({ id, ean }) => markup`<div>${ean} <code>${id}</code></div>`)}
    </td>
    ${session === null ? markup`<td colspan="3">No session</td>` : sessionCells(session)}
  </tr>`;

const sessionCells = (session: Session): Html =>
  markup`<td>
      <code>${session.sessionId}</code><br>
      <a href="/pv-onboarding/${session.linkToken}">web flow of the owner</a><br>
      <time>${new Date(session.updatedAt).toISOString().slice(0, 19).replace('T', ' ')}Z</time>
    </td>
    <td>
      finished ${String(session.finished)}, active ${String(session.active)}, expired ${String(session.expired)}<br>
      ${progress(session)}
      ${session.inverters.map((id) => markup`<div>inverter <code>${id}</code></div>`)}
    </td>
    <td>
      ${BUTTONS.map(
        ([action, label]) =>
          markup`<form method="post" action="/play/${session.sessionId}/${action}">
            <button class="small">${label}</button>
          </form>`,
      )}
    </td>`;

const progress = (session: Session): string => {
  const { scenario, planned, override } = session;
  return [
    ownerOf(session),
    scenario === 'by-hand' ? '' : `scenario ${scenario}`,
    planned.length === 0 ? '' : `${planned.length} to come`,
    override === null ? '' : 'fields overridden',
  ]
    .filter((part) => part !== '')
    .join(', ');
};

const ownerOf = ({ completedAt, brand, signedIn }: Session): string => {
  const chosen = brand === null ? '' : ` (${brand})`;
  if (completedAt !== null) return `completed by the owner${chosen}`;
  if (brand === null) return 'waits for the owner';
  return signedIn ? `the owner has signed in${chosen}` : `the owner has chosen a brand${chosen}`;
};

const BUTTONS = [
  ['brand', 'Choose a brand'],
  ['sign-in', 'Sign in'],
  ['complete', 'Allow (complete)'],
  ['online', 'Online (+1 inverter)'],
  ['remove-inverter', 'Remove an inverter'],
  ['expire', 'Expire'],
  ['delete', 'Delete'],
] as const;
