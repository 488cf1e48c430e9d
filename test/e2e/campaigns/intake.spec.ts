import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { IntakeStore } from '../../../src/campaigns/intake/intake.store.js';
import { Database, type Statement } from '../../../src/platform/database/database.js';
import { reportOf, rowsOf, upload } from '../../campaigns/campaign-client.js';
import { TestClient } from '../../setup/client.js';
import { newValidEan } from '../../setup/ean.js';
import { useTestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';
import { insertRow } from '../../db/valid-rows.js';
import { withClient } from '../../setup/database/with-client.js';
import { createKey } from '../keys.js';

const MAX_BYTES = 20_000_000;

const MANIFEST = 'manifest.json';
const FOLDERS = ['eans', 'encodings', 'headers', 'layout', 'rows'];
const folderOf = (name: string) => new URL(`../../campaigns/files/${name}/`, import.meta.url);

interface WorstFile {
  readonly file: string;
  /** How such a file is made in practice. */
  readonly reason: string;
  /** The code and the detail of the problem, if the whole file is refused. */
  readonly problem?: readonly [code: string, detail: string];
  /** The detected type, encoding, byte order mark and delimiter. */
  readonly format?: readonly unknown[];
  /** The rows in the form of `reportOf`. */
  readonly rows?: readonly string[];
}

const listed = (folder: string): WorstFile[] =>
  JSON.parse(readFileSync(new URL(MANIFEST, folderOf(folder)), 'utf8')) as WorstFile[];

// Starts no worker, because a worker would register the customers.
const service = useTestApp({ ROLE: 'api', CAMPAIGN_MAX_BYTES: MAX_BYTES });
const client = TestClient.of(service);

const csv = (...rows: readonly string[]) => ['tenantReference,ean', ...rows].join('\n');
const query = (text: string) =>
  withClient(service.environment.DATABASE_URL, async (pg) => (await pg.query(text)).rows);
const stored = async () => (await query('SELECT id FROM campaigns')).length;

/** Starts an upload whose body never ends. */
const startUpload = (body: string, type = 'text/csv') => {
  const { port } = service.app.getHttpServer().address() as AddressInfo;
  const socket = connect(port, '127.0.0.1');
  socket.write(
    `POST /api/v1/campaigns HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${service.adminKey}\r\ncontent-type: ${type}\r\ncontent-length: ${body.length + 1_000}\r\n\r\n${body}`,
  );
  return socket;
};

interface Plan {
  readonly 'Node Type': string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly Plans?: readonly Plan[];
}

/** Returns how many rows all nodes of a plan have returned. */
const rowsOfPlan = (plan: Plan): number =>
  plan['Actual Rows'] * plan['Actual Loops'] +
  (plan.Plans ?? []).reduce((sum, child) => sum + rowsOfPlan(child), 0);

/** Returns, for each statement that checks the rows of an upload, how many rows the nodes of its plan have returned. */
async function stepsOf(work: () => Promise<unknown>): Promise<number[]> {
  const database = service.app.get(Database);
  const { transaction } = database;
  const steps: number[] = [];
  const spy = jest.spyOn(database, 'transaction').mockImplementation((inTransaction, patience) =>
    transaction.call(
      database,
      (tx) => {
        const run = tx.query.bind(tx);
        tx.query = async <R>(statement: string | Statement, values?: readonly unknown[]): Promise<R[]> => {
          const text = typeof statement === 'string' ? statement : statement.text;
          if (!/^\s*WITH[^]+UPDATE campaign_rows/.test(text)) return run<R>(statement, values);
          const explain = `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`;
          const [row] = await run<{ 'QUERY PLAN': readonly [{ Plan: Plan }] }>(explain, values);
          steps.push(rowsOfPlan(row!['QUERY PLAN'][0].Plan));
          return [];
        };
        return inTransaction(tx);
      },
      patience,
    ),
  );
  await work();
  spy.mockRestore();
  return steps;
}

describe('the file of a campaign', () => {
  it('is stored with a status for each row, and visible at once', async () => {
    const { status, body } = await upload(
      service,
      csv(`C-1,${newValidEan()}`, 'C-2,5'),
      'name=autumn&invite=true',
    );
    expect(status).toBe(202);
    expect(body).toMatchObject({
      name: 'autumn',
      status: 'running',
      dryRun: false,
      invite: true,
      format: {
        type: 'csv',
        encoding: 'utf-8',
        bom: false,
        delimiter: ',',
        columns: ['tenantReference', 'ean'],
      },
      rows: 2,
      counts: { accepted: 1, invalid: 1, registered: 0 },
      problems: { ean_length: 1 },
      finishedAt: null,
    });
    expect(reportOf(await rowsOf(service, body.id, '&status=invalid'))).toEqual([
      '3 invalid ean:ean_length(18,1)',
    ]);
    const list = await client.list<{ id: string }>('/campaigns');
    expect(list[0]).toMatchObject({ id: body.id, status: 'running' });
  });

  it('is checked alone: other files with the same customers change nothing about its rows', async () => {
    const [one, two, three] = [`a-${randomUUID()}`, randomUUID(), randomUUID()];
    const [ean, eanOfTwo, eanOfThree] = [newValidEan(), newValidEan(), newValidEan()];
    const check = async (...rows: string[]) => {
      const text = ['tenantReference,ean,brand,locale', ...rows].join('\n');
      return (await upload(service, text, 'dryRun=true')).body.id;
    };
    const own = [`${one},${ean},acme,nl`, `${two},${eanOfTwo},,`];
    const alone = await check(...own);
    const rows = await rowsOf(service, alone);
    expect(rows.map(({ status, problems }) => [status, problems])).toEqual([
      ['accepted', []],
      ['accepted', []],
    ]);
    await check(
      ...[`${one},${ean},ACME,nl`, `${three},${eanOfThree},ACME,`, `${one},${ean},,de`],
      ...[`${one.toUpperCase()},${ean},,`, `${two},5,,`],
      ...Array.from({ length: 101 }, () => `${two},${newValidEan()},,`),
    );
    await check(`${two},${eanOfTwo},,`);
    const most = await check(...Array.from({ length: 100 }, () => `${two},${newValidEan()},,`));
    expect(await rowsOf(service, most, '&status=invalid')).toEqual([]);
    const rounded = ['541448820041865000', '541448820041000000', '541448820042000000'];
    const lines = [...rounded, ...Array.from({ length: 9 }, newValidEan)].map(
      (each, index) => `R-${index},${each},,`,
    );
    expect((await rowsOf(service, await check(...lines)))[0]).toMatchObject({
      ...{ line: 2, status: 'invalid', ean: null },
      problems: [{ column: 'ean', code: 'ean_rounded' }],
    });
    expect(await rowsOf(service, await check(...own))).toEqual(rows);
    expect(await rowsOf(service, alone)).toEqual(rows);
  });

  it('is refused if the rest of its form is too large', async () => {
    const form = new FormData();
    form.append('note', 'x'.repeat(MAX_BYTES + 100_000));
    form.append('file', new Blob([csv(`C-9,${newValidEan()}`)], { type: 'text/csv' }), 'file.csv');
    const { headers, body } = new Response(form);
    const response = await fetch(`${service.url}/api/v1/campaigns`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${service.adminKey}`,
        'content-type': headers.get('content-type')!,
      },
      // A stream has no content length, by which the service could refuse the upload before it reads the body.
      body,
      duplex: 'half',
    });
    expect(response.status).toBe(413);
  });

  it('is stored in sets of at most 500 rows, and of fewer if they are long', async () => {
    const insert = jest.spyOn(service.app.get(IntakeStore), 'insert');
    const setsOf = async (rows: number, note: string) => {
      const lines = Array.from({ length: rows }, (_, row) => `S-${row},${newValidEan()},${note}`);
      const file = ['tenantReference,ean,metadata.note', ...lines].join('\n');
      expect((await upload(service, file, 'dryRun=true')).body).toMatchObject({ rows });
      return insert.mock.calls.splice(0).map(([, set]) => set.length);
    };
    expect(await setsOf(501, '')).toEqual([500, 1]);
    expect(await setsOf(20, 'x'.repeat(30_000))).toEqual([9, 9, 2]);
    insert.mockRestore();
  });

  it.each(['text/csv', 'application/x-ndjson'])(
    'is checked in steps proportional to its rows, as %s',
    async (type) => {
      const rows = Array.from({ length: 200 }, () => [randomUUID(), newValidEan()] as const);
      const adopted = rows.map(([tenantReference, ean]) => {
        const user = { id: randomUUID(), tenantReference, gridLocations: [{ id: randomUUID(), ean }] };
        return JSON.stringify({ tenantReference, user });
      });
      const adopts = type !== 'text/csv';
      const body = adopts ? adopted.join('\n') : csv(...rows.map((row) => row.join()));
      const steps = await stepsOf(() => upload(service, body, `adopt=${adopts}`, { 'content-type': type }));
      expect(steps.length).toBeGreaterThan(5);
      expect(steps.filter((count) => count > 50 * rows.length)).toEqual([]);
    },
  );

  it('may be NDJSON', async () => {
    const file = `{"tenantReference":"J-1","ean":"${newValidEan()}","metadata":{"a":[1]}}\n`;
    const { body } = await upload(service, file, 'dryRun=true', { 'content-type': 'application/x-ndjson' });
    expect(body).toMatchObject({ status: 'checked', format: { type: 'ndjson' }, counts: { accepted: 1 } });
    const type = { 'content-type': 'application/x-ndjson' };
    expect(await upload(service, file, 'dryRun=true&columns=Nr:ean', type)).toMatchObject({
      status: 400,
      body: { code: 'campaign_columns', detail: 'Columns are named for CSV alone; this is NDJSON' },
    });
  });

  it('may be the one file of a form', async () => {
    const form = new FormData();
    form.append('file', new Blob([csv(`F-1,${newValidEan()}`)]), 'customers.csv');
    expect((await upload(service, form)).body).toMatchObject({ rows: 1, counts: { accepted: 1 } });
    const part = '--x\r\nContent-Disposition: form-data; name="f"; filename="a.csv"\r\n\r\n';
    const typed = { 'content-type': 'Multipart/Form-Data; Boundary=x' };
    expect(
      (await upload(service, `${part}${csv(`F-2,${newValidEan()}`)}\r\n--x--\r\n`, '', typed)).body,
    ).toMatchObject({
      rows: 1,
    });
    const none = '--x--\r\n';
    const headers = { 'content-type': 'multipart/form-data; boundary=x' };
    expect(await upload(service, none, '', headers)).toMatchObject({
      status: 400,
      body: { code: 'campaign_empty' },
    });
  });

  it.each([
    ['cp850', 'cp850', 'dos.csv'],
    ['MACINTOSH', 'macintosh', 'macintosh.csv'],
    ['"utf-16le"', 'utf-16le', 'utf-16-without-bom.csv'],
    ['iso-8859-1', 'windows-1252', 'windows-1252.csv'],
    ['iso-8859-1', 'utf-8', 'utf-8-with-bom.csv'],
    ['utf-8; encoding=windows-1252', 'windows-1252', 'windows-1252.csv'],
    ['utf-8; encoding=utf-8', 'utf-8', 'read-twice.csv'],
    ['utf-8', null, 'windows-1252.csv'],
    ['klingon', null, 'windows-1252.csv'],
    ['', null, 'windows-1252.csv'],
  ])('may name its encoding in the Content-Type: charset=%s is %s of %s', async (charset, encoding, name) => {
    const [type, query = ''] = charset.split('; ');
    const headers = { 'content-type': `text/csv; charset=${type}` };
    const file = readFileSync(new URL(name, folderOf('encodings')));
    const { status, body } = await upload(service, file, `dryRun=true&${query}`, headers);
    expect([status, body.format?.encoding ?? null]).toEqual([
      encoding === null ? expect.any(Number) : 202,
      encoding,
    ]);
    if (encoding === null)
      expect(body.code).toBe(charset === 'utf-8' ? 'campaign_unreadable' : 'unsupported_media_type');
  });

  it.each([
    ['latin1', 'windows-1252'],
    ['utf8', 'utf-8'],
  ] as const)('may have its first accent after 64 KiB, as %s', async (written, encoding) => {
    const rows = Array.from({ length: 4_000 }, (_, at) => `A-${at},${newValidEan()},`);
    const last = `A-last,${newValidEan()},Müller €`.replace('€', written === 'utf8' ? '€' : '');
    const file = Buffer.from(['tenantReference,ean,metadata.name', ...rows, last].join('\n'), written);
    const { status, body } = await upload(service, file);
    expect([status, body.detail, body.format]).toMatchObject([202, undefined, { encoding }]);
    const [row] = (await query(
      `SELECT metadata->>'name' AS name FROM campaign_rows WHERE tenant_reference = 'A-last' AND campaign_id = '${body.id}'`,
    )) as { name: string }[];
    expect(row!.name.trim()).toBe(written === 'utf8' ? 'Müller €' : 'Müller');
  });

  it('is refused as a whole if a cell of many lines is too long, since its rows may be those of customers', async () => {
    const long = `M-1,${newValidEan()},"${'x\n'.repeat(50_000)}"`;
    const file = ['tenantReference,ean,metadata.note', long, `M-2,${newValidEan()},`].join('\n');
    const { status, body } = await upload(service, file);
    expect([status, body.code]).toEqual([400, 'campaign_unreadable']);
    expect(body.detail).toContain('Line 2, column metadata.note');
  });

  it.each([
    ['text/csv', (id: string) => `${newValidEan()},"${'x'.repeat(100_000)}",${id}`],
    [
      'application/x-ndjson',
      (id: string) => `{"tenantReference":"${id}","ean":"5","metadata":{"note":"${'x'.repeat(100_000)}"}}`,
    ],
    ['application/x-ndjson', (id: string) => `{"tenantReference":"${id}","ean":"5"`],
    ['application/x-ndjson', (id: string) => `{"eans":"5","tenantReference":"${id}"}`],
  ])(
    'registers no customer in part: a row that cannot be read is one of its rows (%s)',
    async (type, long) => {
      const good = (id: string) =>
        type === 'text/csv'
          ? `${newValidEan()},,${id}`
          : `{"ean":"${newValidEan()}","tenantReference":"${id}"}`;
      const header = type === 'text/csv' ? ['ean,metadata.note,tenantReference'] : [];
      const file = [...header, long('N-1'), good('N-1'), good('N-2')].join('\n');
      const { body } = await upload(service, file, 'dryRun=true', { 'content-type': type });
      const report = reportOf(await rowsOf(service, body.id)).map((line) => line.replace(/^\d+ /, ''));
      expect(report[0]).toMatch(/^invalid \*:(row_too_long|json_invalid)(\(|$)/);
      expect(report.slice(1)).toEqual([`invalid *:other_row_invalid(${header.length + 1})`, 'accepted']);
    },
  );

  it('may have a row of 10 MB, which is invalid, and good rows behind it', async () => {
    const long = `L-1,"${'x'.repeat(10_000_000)}"`;
    const { body } = await upload(service, csv(long, `L-2,${newValidEan()}`));
    expect(reportOf(await rowsOf(service, body.id))).toEqual([
      '2 invalid *:row_too_long(65,536)',
      '3 accepted',
    ]);
  });

  it('is refused by its length before a client that waits sends it, which otherwise is told to continue', async () => {
    const { port } = service.app.getHttpServer().address() as AddressInfo;
    const file = csv(`E-1,${newValidEan()}`);
    const send = (length: number) => {
      const socket = connect(port, '127.0.0.1');
      socket.write(
        `POST /api/v1/campaigns?dryRun=true HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${service.adminKey}\r\ncontent-type: text/csv\r\nexpect: 100-continue\r\ncontent-length: ${length}\r\n\r\n`,
      );
      return socket;
    };
    const next = async (socket: Socket) => String((await once(socket, 'data'))[0]);
    const refused = send(MAX_BYTES + 1);
    expect(await next(refused)).toMatch(/^HTTP\/1.1 413 /);
    const waiting = send(file.length);
    expect(await next(waiting)).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    waiting.write(file);
    expect(await next(waiting)).toMatch(/^HTTP\/1.1 202 /);
    for (const socket of [refused, waiting]) socket.destroy();
  });

  it('leaves places for the files of other keys', async () => {
    const other = await createKey(client, 'users:read', 'users:write');
    const rows = Array.from({ length: 4_000 }, (_, at) => `H-${at},${newValidEan()}`);
    const before = await stored();
    const sockets = [startUpload(csv(...rows)), startUpload(csv(...rows))];
    await waitFor('both are being received', async () => (await stored()) === before + 2);
    const dead = await query(
      `SELECT FROM campaigns WHERE status = 'receiving' AND due_at < now() + interval '30 min'`,
    );
    const file = csv(`H,${newValidEan()}`);
    expect(await upload(service, file)).toMatchObject({ status: 429, body: { code: 'too_many_requests' } });
    expect(await upload({ url: service.url, adminKey: other.key }, file)).toMatchObject({ status: 202 });
    for (const socket of sockets) socket.destroy();
    expect(dead).toEqual([]);
    await waitFor('they are gone', async () => (await stored()) === before + 1);
    expect(await upload(service, file)).toMatchObject({ status: 202 });
  });

  describe('is refused as a whole, and leaves nothing,', () => {
    let before: number;
    beforeAll(async () => {
      before = await stored();
    });
    afterAll(async () => expect(await stored()).toBe(before));

    it('if it is too large by its length, before it is read', async () => {
      const file = 'x'.repeat(MAX_BYTES + 1);
      expect(await upload(service, file)).toMatchObject({ status: 413, body: { code: 'body_too_large' } });
    });

    it('if it proves too large', async () => {
      async function* chunks() {
        yield Buffer.from(csv(''));
        for (let sent = 0; sent <= MAX_BYTES; sent += 100_000) yield Buffer.from(`C,${'1'.repeat(99_997)}\n`);
      }
      const response = await fetch(`${service.url}/api/v1/campaigns`, {
        method: 'POST',
        headers: { authorization: `Bearer ${service.adminKey}`, 'content-type': 'text/csv' },
        body: ReadableStream.from(chunks()),
        duplex: 'half',
      });
      expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([
        413,
        'body_too_large',
      ]);
    });

    it('if a late line cannot be read', async () => {
      const rows = Array.from({ length: 2_000 }, (_, at) => `Q-${at},${newValidEan()}`);
      const { status, body } = await upload(service, csv(...rows, 'Q,"5'));
      expect([status, body.code]).toEqual([400, 'campaign_unreadable']);
      expect(body.detail).toContain('Line 2002, column ean');
    });

    it.each([
      ['text/csv', ''],
      [
        'multipart/form-data; boundary=x',
        '--x\r\ncontent-disposition: form-data; name="f"; filename="a"\r\n\r\n',
      ],
    ])('and its connection serves the next request (%s)', async (type, part) => {
      const socket = startUpload(`${part}unknown\n${'x\n'.repeat(1_000_000)}`, type);
      let text = '';
      socket.on('data', (bytes) => (text += String(bytes)));
      await waitFor('the refusal', () => text.includes('HTTP/1.1 400 '));
      socket.write(`${' '.repeat(1_000)}GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n`);
      await waitFor('the next response', () => text.includes('HTTP/1.1 200 '));
      socket.destroy();
    });

    it('if it is compressed', async () => {
      const headers = { 'content-type': 'text/csv', 'content-encoding': 'gzip' };
      const { status, body } = await upload(service, gzipSync(csv('C,1')), '', headers);
      expect([status, body.code]).toEqual([415, 'unsupported_media_type']);
    });

    it('if it is sent as JSON, or to another route', async () => {
      const json = { 'content-type': 'application/json' };
      expect((await upload(service, '{}', '', json)).status).toBe(415);
      for (const type of ['text/csv', 'application/x-ndjson', 'multipart/form-data; boundary=x'])
        expect((await client.call('POST', '/users', 'a', { 'content-type': type })).status).toBe(415);
    });

    it('if a form has a second file, which is named', async () => {
      const form = new FormData();
      form.append('customers', new Blob([csv(`F-1,${newValidEan()}`)]), 'customers.csv');
      form.append('more', new Blob([csv(`F-2,${newValidEan()}`)]), 'more.csv');
      const { status, body } = await upload(service, form, '');
      expect([status, body]).toMatchObject([
        400,
        {
          code: 'invalid_request',
          errors: [{ field: 'more', message: expect.stringContaining('more.csv') }],
        },
      ]);
    });

    it.each(['before', 'after'])(
      'if a form has a field %s its file, which would set nothing',
      async (place) => {
        const form = new FormData();
        if (place === 'before') form.append('dryRun', 'true');
        form.append('file', new Blob([csv(`F-1,${newValidEan()}`)]), 'customers.csv');
        if (place === 'after') form.append('dryRun', 'true');
        const message = expect.stringContaining('?dryRun=true') as unknown;
        expect(await upload(service, form, '')).toMatchObject({
          status: 400,
          body: { code: 'invalid_request', errors: [{ field: 'dryRun', message }] },
        });
      },
    );

    it('if a form is cut, or has no boundary', async () => {
      const form =
        '--x\r\ncontent-disposition: form-data; name="f"; filename="a"\r\n\r\ntenantReference,ean\nC,1';
      const headers = { 'content-type': 'multipart/form-data; boundary=x' };
      expect((await upload(service, form, '', headers)).body.code).toBe('campaign_unreadable');
      const without = { 'content-type': 'multipart/form-data' };
      expect((await upload(service, form, '', without)).body.code).toBe('invalid_request');
    });

    it.each(['text/csv', 'multipart/form-data; boundary=x'])('if the upload is cut (%s)', async (type) => {
      const rows = Array.from({ length: 5_000 }, (_, at) => `X-${at},${newValidEan()}`);
      const part = type.startsWith('multipart')
        ? '--x\r\ncontent-disposition: form-data; name="f"; filename="a"\r\n\r\n'
        : '';
      const socket = startUpload(part + csv(...rows), type);
      await waitFor('the first rows', async () => (await stored()) > before);
      socket.destroy();
      await waitFor('nothing to be left', async () => (await stored()) === before);
    });
  });
});

describe.each(FOLDERS)('the worst files of test/campaigns/files/%s', (folder) => {
  it('are all in its manifest', () => {
    const files = readdirSync(folderOf(folder)).filter((name) => name !== MANIFEST);
    expect(listed(folder).map(({ file }) => file)).toEqual(files.sort());
  });

  it.each(listed(folder))('$file: $reason', async ({ file, problem, format, rows }) => {
    const { status, body } = await upload(service, readFileSync(new URL(file, folderOf(folder))));
    if (problem !== undefined) {
      expect([body.code, body.detail]).toEqual(problem);
      expect(status).toBe(body.code === 'unsupported_media_type' ? 415 : 400);
      return;
    }
    expect([status, body.detail]).toEqual([202, undefined]);
    const { type, encoding, bom, delimiter } = body.format;
    expect([type, encoding, bom ? 'with BOM' : 'without BOM', delimiter]).toEqual(format);
    expect(reportOf(await rowsOf(service, body.id))).toEqual(rows);
    if (file === 'brands.csv') expect(body.brands).toEqual([{ brand: 'SolarEdge', rows: 4 }]);
  });
});

describe('a dry run', () => {
  it('tells what would happen, and registers nobody', async () => {
    const [known, other, open, fresh, alike] = Array.from({ length: 5 }, () => randomUUID() as string);
    const day = `2026-02-03 ${randomUUID()}`;
    // Each user has its EANs in another order than that of the digits.
    const eans = Array.from({ length: 12 }, newValidEan).toSorted().toReversed();
    for (const [tenantReference, ...of] of [
      [known, eans[0], eans[1]],
      [other, eans[2], eans[0]],
      [day, eans[10], eans[11]],
    ])
      await client.call('POST', '/users', { tenantReference, gridLocations: of.map((ean) => ({ ean })) });
    for (const [status, tenant_reference, ean] of [
      ['uncertain', open, eans[5]],
      ['uncertain', randomUUID(), eans[6]],
      ['discarded', fresh, newValidEan()],
      ['discarded', fresh!.toUpperCase(), newValidEan()],
    ])
      await insertRow(service.database.pool, 'registrations', { status, tenant_reference, eans: [ean] });
    const invalid = randomUUID();
    const file = csv(
      `${known},${eans[1]}`,
      `${known},${eans[0]}`,
      `${other},${eans[3]}`,
      `${fresh},${eans[4]}`,
      `${alike},${eans[2]}`,
      `${fresh},${eans[4]}`,
      `,${eans[0]}`,
      `${known},${eans[1]}`,
      `${alike},${eans[2]}`,
      `${open},${eans[5]}`,
      `${randomUUID()},${eans[6]}`,
      `${other!.toUpperCase()},${eans[7]}`,
      `${known!.toUpperCase()},${eans[8]}`,
      `${randomUUID()},${eans[3]}`,
      `${invalid},5`,
      `${invalid.toUpperCase()},${eans[9]}`,
      `${day},${eans[10]}`,
      `${day},${eans[11]}`,
    );
    const { body } = await upload(service, file);
    expect(body).toMatchObject({
      status: 'checked',
      dryRun: true,
      summary: { new: 7, known: 5, conflicts: 1, invalid: 2, duplicates: 3 },
      counts: { accepted: 7, known: 5, invalid: 6, registered: 0 },
      problems: { reference_conflict: 1, ean_elsewhere: 3, duplicate_row: 3 },
    });
    expect(body.finishedAt).not.toBeNull();
    const rows = await rowsOf(service, body.id);
    expect(reportOf(rows)).toEqual([
      '2 known tenantReference:reference_alike',
      '3 known ean:ean_elsewhere tenantReference:reference_alike',
      '4 invalid *:reference_conflict(2)',
      '5 accepted',
      '6 accepted ean:ean_elsewhere',
      '7 invalid *:duplicate_row(5)',
      '8 invalid tenantReference:required',
      '9 invalid *:duplicate_row(2)',
      '10 invalid *:duplicate_row(6)',
      '11 known',
      '12 accepted ean:ean_elsewhere',
      '13 accepted tenantReference:reference_alike',
      '14 accepted tenantReference:reference_alike',
      '15 accepted',
      '16 invalid ean:ean_length(18,1)',
      '17 accepted',
      '18 known tenantReference:reference_shared(2)',
      '19 known tenantReference:reference_shared(2)',
    ]);
    expect(rows[0]!.userId).not.toBeNull();
    const begun = await rowsOf(service, (await upload(service, file, '')).body.id);
    expect(reportOf(begun)).toEqual(reportOf(rows).map((line) => line.replace('known', 'accepted')));
    const users = await client.list<unknown>(`/users?tenantReference=${fresh}`);
    expect(users).toEqual([]);
  });

  it('refuses more EANs than one customer can have', async () => {
    const rows = Array.from({ length: 101 }, () => `C-many,${newValidEan()}`);
    const { body } = await upload(service, csv(...rows, rows[0]!, `C-few,${newValidEan()}`));
    const problems = { too_many_eans: 101, duplicate_row: 1 };
    expect(body).toMatchObject({ counts: { accepted: 1, invalid: 102 }, problems });
  });
});

describe('campaigns', () => {
  it('need users:write to be uploaded and users:read to be read', async () => {
    const { body } = await upload(service, csv(`S-1,${newValidEan()}`));
    const { app: reader } = await createKey(client, 'users:read');
    const { app: writer } = await createKey(client, 'users:write');
    const csvType = { 'content-type': 'text/csv' };
    expect((await reader.call('POST', '/campaigns?dryRun=true', csv(), csvType)).status).toBe(403);
    expect((await writer.call('POST', '/campaigns?dryRun=true', csv('S,1'), csvType)).status).toBe(202);
    for (const path of ['', `/${body.id}`, `/${body.id}/rows`]) {
      expect((await reader.call('GET', `/campaigns${path}`)).status).toBe(200);
      expect((await writer.call('GET', `/campaigns${path}`)).status).toBe(403);
    }
  });

  it('are not found by another id, and have no unknown parameters', async () => {
    for (const path of ['', '/rows', '/result.csv'])
      expect((await client.call('GET', `/campaigns/${randomUUID()}${path}`)).status).toBe(404);
    for (const parameters of [
      'dryRun=1',
      'dryrun=true',
      'name=',
      'name=a%E2%80%8Bb',
      `name=${'n'.repeat(201)}`,
    ])
      expect(await upload(service, csv(), parameters)).toMatchObject({
        status: 400,
        body: { code: 'invalid_request' },
      });
    const column = 'c'.repeat(201);
    const longest = `name=${'n'.repeat(200)}&columns=${column}:ean&dryRun=true`;
    const file = `tenantReference,${column}\nL-1,${newValidEan()}`;
    expect((await upload(service, file, longest)).body).toMatchObject({ counts: { accepted: 1 } });
  });
});
