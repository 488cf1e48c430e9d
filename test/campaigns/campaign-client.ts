import type { CampaignRowView, CampaignView } from '../../src/campaigns/campaign.view.js';
import type { TestApp } from '../setup/test-app.js';

type Row = CampaignRowView;
type Campaign = CampaignView & { readonly code?: string; readonly detail?: string };

interface Uploaded {
  readonly status: number;
  /** The campaign; the problem if the request fails. */
  readonly body: Campaign;
}

type Service = Pick<TestApp, 'url' | 'adminKey'>;

/** Uploads a file. `query`: the query of the URL, such as `dryRun=true`. */
export async function upload(
  service: Service,
  file: Uint8Array | string | FormData,
  query = 'dryRun=true',
  headers: Readonly<Record<string, string>> = { 'content-type': 'text/csv' },
): Promise<Uploaded> {
  const response = await fetch(`${service.url}/api/v1/campaigns?${query}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${service.adminKey}`,
      ...(file instanceof FormData ? {} : headers),
    },
    body: file instanceof Uint8Array ? Buffer.from(file) : file,
  });
  return { status: response.status, body: (await response.json()) as Campaign };
}

async function read<T>(service: Service, path: string): Promise<T> {
  const response = await fetch(`${service.url}/api/v1${path}`, {
    headers: { authorization: `Bearer ${service.adminKey}` },
  });
  return (await response.json()) as T;
}

export async function rowsOf(service: Service, id: string, query = ''): Promise<Row[]> {
  const rows: Row[] = [];
  for (let cursor = ''; ;) {
    const page = await read<{ items: Row[]; next: string | null }>(
      service,
      `/campaigns/${id}/rows?limit=200${query}${cursor}`,
    );
    rows.push(...page.items);
    if (page.next === null) return rows;
    cursor = `&cursor=${page.next}`;
  }
}

/** Returns a text for each row: its line number, its status, and its problems as `column:code(the numbers and quotes of the message)`. */
export const reportOf = (rows: readonly Row[]): string[] =>
  rows.map(({ line, status, problems }) =>
    [
      line,
      status,
      ...problems.map(({ column, code, message }) => {
        const named = message.match(/"[^"]*"|\d+/g);
        return `${column ?? '*'}:${code}${named === null ? '' : `(${named.join()})`}`;
      }),
    ].join(' '),
  );
