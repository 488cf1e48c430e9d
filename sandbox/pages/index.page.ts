import { markup, page, type Html } from './markup.js';
import type { Session } from '../session.js';
import type { User } from '../state.js';

const MAX_ROWS = 100;

export const indexPage = (users: readonly User[], sessions: readonly Session[]): Html =>
  page(
    'Sandbox',
    markup`<main class="wide">
      <h1>Sandbox of the Solar Curtailment Service</h1>
      <p class="note">
        The data of the remote service. <a href="/">Refresh</a> ·
        <a href="/sandbox/ledger">ledger</a> · <a href="/sandbox/settings">settings</a> ·
        <a href="/sandbox/scenarios">scenarios</a>
      </p>
      <h2>Sessions (${sessions.length})</h2>
      ${sessions.length === 0 ? markup`<p>None yet.</p>` : table(['Session', 'State', 'Inverters', 'Updated', 'Do'], newest(sessions).map(sessionRow))}
      <h2>Users (${users.length})</h2>
      ${users.length === 0 ? markup`<p>None yet.</p>` : table(['User', 'Reference', 'Grid locations'], newest(users).map(userRow))}
    </main>`,
  );

const newest = <T>(items: readonly T[]): readonly T[] => items.slice(-MAX_ROWS).reverse();

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

const userRow = (user: User): Html =>
  markup`<tr>
    <td><code>${user.id}</code></td>
    <td>${user.tenantReference}</td>
    <td>${user.gridLocations.map(({ id, ean }) => markup`<div>${ean} <code>${id}</code></div>`)}</td>
  </tr>`;

const sessionRow = (session: Session): Html =>
  markup`<tr>
    <td>
      <code>${session.sessionId}</code><br>
      <a href="/pv-onboarding/${session.linkToken}">web flow of the owner</a>
    </td>
    <td>
      finished ${String(session.finished)}, active ${String(session.active)}, expired ${String(session.expired)}<br>
      ${progress(session)}
    </td>
    <td>${session.inverters.map((id) => markup`<div><code>${id}</code></div>`)}</td>
    <td><time>${new Date(session.updatedAt).toISOString().slice(0, 19).replace('T', ' ')}Z</time></td>
    <td>
      ${BUTTONS.map(
        ([action, label]) =>
          markup`<form method="post" action="/play/${session.sessionId}/${action}">
            <button class="small">${label}</button>
          </form>`,
      )}
    </td>
  </tr>`;

const progress = ({ completedAt, brand, scenario, planned, override }: Session): string =>
  [
    completedAt === null
      ? 'waits for the owner'
      : `completed by the owner${brand === null ? '' : ` (${brand})`}`,
    scenario === 'by-hand' ? '' : `scenario ${scenario}`,
    planned.length === 0 ? '' : `${planned.length} to come`,
    override === null ? '' : 'fields overridden',
  ]
    .filter((part) => part !== '')
    .join(', ');

const BUTTONS = [
  ['complete', 'Complete'],
  ['online', 'Online (+1 inverter)'],
  ['remove-inverter', 'Remove an inverter'],
  ['expire', 'Expire'],
  ['delete', 'Delete'],
] as const;
