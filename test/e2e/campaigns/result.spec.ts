import { randomUUID } from 'node:crypto';
import { CampaignsStore } from '../../../src/campaigns/campaigns.store.js';
import { describe, expect, it, jest } from '@jest/globals';
import { reportOf, rowsOf, upload } from '../../campaigns/campaign-client.js';
import { TestClient } from '../../setup/client.js';
import { newValidEan } from '../../setup/ean.js';
import { useTestApp } from '../../setup/test-app.js';
import { withClient } from '../../setup/database/with-client.js';
import { createKey } from '../keys.js';

// Starts no worker, because a worker would register the customers.
const service = useTestApp({ ROLE: 'api' });
const client = TestClient.of(service);

const csv = (...rows: readonly (readonly string[])[]) =>
  [['tenantReference', 'ean'], ...rows].map((cells) => cells.join(';')).join('\r\n');

const query = (text: string, values: unknown[]) =>
  withClient(service.environment.DATABASE_URL, async (pg) => (await pg.query(text, values)).rows);

async function resultOf(id: string, key = client.key): Promise<{ text: string; headers: Headers }> {
  const response = await fetch(`${service.url}/api/v1/campaigns/${id}/result.csv`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  return { text: bytes.toString(), headers: response.headers };
}

describe('the downloads of a key', () => {
  it('are at most two at once', async () => {
    const { body } = await upload(service, csv([randomUUID(), newValidEan()]));
    let end = (): void => {};
    const unread = new Promise<[]>((resolve) => (end = () => resolve([])));
    const rows = jest.spyOn(service.app.get(CampaignsStore), 'rows').mockReturnValue(unread);
    const download = (key: string) =>
      fetch(`${service.url}/api/v1/campaigns/${body.id}/result.csv`, {
        headers: { authorization: `Bearer ${key}` },
      });
    const open = [await download(client.key), await download(client.key)];
    const refused = await download(client.key);
    expect([refused.status, await refused.json()]).toMatchObject([429, { code: 'too_many_requests' }]);
    const { app: other } = await createKey(client, 'users:read');
    open.push(await download(other.key));
    expect(open.map(({ status }) => status)).toEqual([200, 200, 200]);
    rows.mockRestore();
    end();
    await Promise.all(open.map((each) => each.text()));
    expect((await resultOf(body.id)).text).toContain('accepted');
  });
});

describe('a dry run', () => {
  it('tells what would happen, and registers nobody', async () => {
    const [known, other] = [randomUUID(), randomUUID()];
    const eans = Array.from({ length: 5 }, newValidEan);
    for (const [tenantReference, ...of] of [
      [known, eans[0], eans[1]],
      [other, eans[2]],
    ])
      await client.call('POST', '/users', { tenantReference, gridLocations: of.map((ean) => ({ ean })) });
    const fresh = randomUUID();
    const { body } = await upload(
      service,
      csv(
        [known, eans[1]!],
        [known, eans[0]!],
        [other, eans[3]!],
        [fresh, eans[4]!],
        [randomUUID(), eans[2]!],
        [fresh, eans[4]!],
        ['', eans[0]!],
      ),
    );
    expect(body).toMatchObject({
      status: 'checked',
      dryRun: true,
      summary: { new: 2, known: 2, conflicts: 1, invalid: 1, duplicates: 1 },
      counts: { accepted: 2, known: 2, invalid: 3, registered: 0 },
      problems: { reference_conflict: 1, ean_elsewhere: 1, duplicate_row: 1 },
    });
    expect(body.finishedAt).not.toBeNull();
    const rows = await rowsOf(service, body.id);
    expect(reportOf(rows)).toEqual([
      '2 known',
      '3 known',
      '4 invalid *:reference_conflict',
      '5 accepted',
      '6 accepted ean:ean_elsewhere',
      '7 invalid *:duplicate_row',
      '8 invalid tenantReference:required',
    ]);
    expect(rows[0]!.userId).not.toBeNull();
    const { body: users } = await client.call<{ items: unknown[] }>('GET', `/users?tenantReference=${fresh}`);
    expect(users.items).toEqual([]);
  });

  it('refuses more EANs than one customer can have', async () => {
    const rows = Array.from({ length: 101 }, () => ['C-many', newValidEan()]);
    const { body } = await upload(service, csv(...rows, ['C-few', newValidEan()]));
    expect(body).toMatchObject({ counts: { accepted: 1, invalid: 101 }, problems: { too_many_eans: 101 } });
  });
});

describe('result.csv', () => {
  const [ean, wrong] = [newValidEan(), '5,41449E+17'];
  const file = `Reference;EAN;metadata.note\r\n=1+1;${ean};"a;""b"""\r\n-2;${wrong};@x\r\n007;;\r\n`.replace(
    'Reference',
    'Tenant reference',
  );

  it('has the columns as sent and what became of each row, safe for a spreadsheet', async () => {
    const { body } = await upload(service, file);
    const { text, headers } = await resultOf(body.id);
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(headers.get('content-disposition')).toBe(`attachment; filename="campaign-${body.id}.csv"`);
    const rounded = (await rowsOf(service, body.id))[1]!.problems[0]!.message;
    expect(text.split('\r\n')).toEqual([
      '\ufeffTenant reference;EAN;metadata.note;status;problems;registrationId;userId;invitationUrl',
      `'=1+1;"=""${ean}""";"a;""b""";accepted;;;;`,
      `'-2;"=""${wrong}""";'@x;invalid;EAN: ${rounded};;;`,
      '"=""007""";;;invalid;EAN: The EAN is missing;;;',
      '',
    ]);
  });

  it('can be uploaded again, and means the same', async () => {
    const first = await upload(service, file);
    const { text } = await resultOf(first.body.id);
    const second = await upload(service, text);
    const meaning = async (id: string) =>
      (await rowsOf(service, id)).map(({ tenantReference, ean: each, problems }) => [
        tenantReference,
        each,
        problems,
      ]);
    expect(await meaning(second.body.id)).toEqual(await meaning(first.body.id));
    expect(second.body.format.columns).toEqual(first.body.format.columns);
  });

  it('has all cells of a row with more than the header, so that it is refused again', async () => {
    const { body } = await upload(service, `ean,tenantReference\n${ean},Jansen, Piet\n`);
    const { text } = await resultOf(body.id);
    expect(text.split('\r\n')[1]).toMatch(/^"=""\d{18}""",Jansen,invalid,.*,,,, Piet$/);
    const again = await upload(service, text);
    expect(reportOf(await rowsOf(service, again.body.id))).toEqual(['2 invalid *:too_many_cells']);
    expect((await resultOf(again.body.id)).text).toContain(', Piet');
  });

  it('has the links of invitations for keys with links:read only', async () => {
    const gridLocationId = await client.locate();
    const invitation = await client.call<{ id: string; url: string }>('POST', '/invitations', {
      gridLocationId,
    });
    const { body } = await upload(service, file);
    await query('UPDATE campaign_rows SET invitation_id = $2 WHERE campaign_id = $1 AND line = 2', [
      body.id,
      invitation.body.id,
    ]);
    const { url } = invitation.body;
    const { app: reader } = await createKey(client, 'users:read');
    const { app: linked } = await createKey(client, 'users:read', 'links:read');
    expect((await resultOf(body.id, linked.key)).text).toContain(url);
    expect((await resultOf(body.id, reader.key)).text).not.toContain(url);
    const linksFor = async (key: TestClient) =>
      (
        await key.call<{ items: { invitationUrl: string | null }[] }>('GET', `/campaigns/${body.id}/rows`)
      ).body.items.map(({ invitationUrl }) => invitationUrl);
    expect(await linksFor(linked)).toEqual([url, null, null]);
    expect(await linksFor(reader)).toEqual([null, null, null]);
  });

  it('of NDJSON is separated by semicolons', async () => {
    const file = `{"tenantReference":"1E5","ean":"${ean}"}`;
    const { body } = await upload(service, file, 'dryRun=true', { 'content-type': 'application/x-ndjson' });
    const [, line] = (await resultOf(body.id)).text.split('\r\n');
    expect(line).toBe(`"=""1E5""";"=""${ean}""";;;;;accepted;;;;`);
  });

  it('is complete beyond a page of rows', async () => {
    const rows = Array.from({ length: 2_500 }, (_, at) => [`P-${at}`, newValidEan()]);
    const { body } = await upload(service, csv(...rows));
    const lines = (await resultOf(body.id)).text.trimEnd().split('\r\n');
    expect(lines).toHaveLength(2_501);
    expect(lines[2_500]).toMatch(/^P-2499;/);
  });
});

describe('campaigns', () => {
  it('need users:write to be uploaded and users:read to be read', async () => {
    const { body } = await upload(service, csv(['S-1', newValidEan()]));
    const { app: reader } = await createKey(client, 'users:read');
    const { app: writer } = await createKey(client, 'users:write');
    const csvType = { 'content-type': 'text/csv' };
    expect((await reader.call('POST', '/campaigns?dryRun=true', csv(), csvType)).status).toBe(403);
    expect((await writer.call('POST', '/campaigns?dryRun=true', csv(['S', '1']), csvType)).status).toBe(202);
    for (const path of ['', `/${body.id}`, `/${body.id}/rows`]) {
      expect((await reader.call('GET', `/campaigns${path}`)).status).toBe(200);
      expect((await writer.call('GET', `/campaigns${path}`)).status).toBe(403);
    }
  });

  it('are not found by another id, and have no unknown parameters', async () => {
    for (const path of ['', '/rows', '/result.csv'])
      expect((await client.call('GET', `/campaigns/${randomUUID()}${path}`)).status).toBe(404);
    for (const parameters of ['dryRun=1', 'dryrun=true', 'name=', `name=${'n'.repeat(201)}`])
      expect((await upload(service, csv(), parameters)).status).toBe(400);
  });
});
