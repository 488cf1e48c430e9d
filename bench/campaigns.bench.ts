import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import type { BenchDatabase } from './harness/database.js';
import { newKey } from './harness/key.js';
import { LineUp } from './harness/line-up.js';
import { load, startLoad } from './harness/load/load.js';
import type { Participant } from './harness/participant.js';
import { report } from './harness/report.js';
import { atLeast } from './harness/result.js';
import { control, interleave, rateOf, rateTable, ratio, type Sample } from './harness/rounds.js';
import type { BenchOptions } from './options.js';

const CAMPAIGN = 'a campaign';
const LOOP = 'POST /users, one after the other';
const EIGHT = 'POST /users, eight at once';
const AGAIN = 'a campaign again';
const REMOTE_MS = 50;
const PAUSE_MS = 10;

export async function campaignsBench(options: BenchOptions): Promise<void> {
  const rows = options.quick ? 200 : 1_000;
  await LineUp.with({ sessions: 1, remotes: [CAMPAIGN] }, async (lineUp) => {
    const database = await lineUp.database('campaigns');
    const service = await lineUp.contender({
      name: CAMPAIGN,
      script: new URL('./service.process.ts', import.meta.url),
      database,
      concurrency: 32,
      environment: { ROLE: 'all', EAN_CHECK_DIGIT: 'off' },
    });
    lineUp.remote.setLatency(REMOTE_MS);
    const headers = await newKey(service.url, ['users:write']);
    const campaign = (): Promise<Sample> =>
      lineUp.measure(rows, service, () => runCampaign(service.url, headers, database, rows));
    const generators: Participant[] = [];
    const loop = async (atOnce: number) => {
      const generator = await startLoad(service.url, atOnce);
      generators.push(generator);
      const count = Math.ceil((rows * atOnce) / 8);
      return (): Promise<Sample> =>
        lineUp.measure(count, service, () =>
          load(
            generator,
            count,
            {
              method: 'POST',
              paths: ['/api/v1/users'],
              bodies: Array.from({ length: count }, () => JSON.stringify(nextUser())),
              headers: { ...headers, 'content-type': 'application/json' },
            },
            [201],
          ),
        );
    };
    const samples = await interleave<Sample>(
      [
        { name: CAMPAIGN, round: campaign },
        { name: LOOP, round: await loop(1) },
        { name: EIGHT, round: await loop(8) },
        { name: AGAIN, round: campaign },
      ],
      options.rounds,
    );
    for (const generator of generators) await generator.stop();
    const rates = samples.get(CAMPAIGN)!;
    await report({
      benchmark: 'campaigns',
      title: 'Campaigns',
      extent: `${rows} rows a campaign, a remote service that takes ${REMOTE_MS} ms, ${options.rounds} rounds`,
      isTrial: options.isTrial,
      control: control(rates.map(rateOf), samples.get(AGAIN)!.map(rateOf)),
      targets: [
        atLeast('rows/s of a campaign, of a loop of POST /users', 3, ratio(rates, samples.get(LOOP)!)),
      ],
      tables: [rateTable('Rows', 'row', samples, [CAMPAIGN, 'campaign against it'])],
      packages: ['@nestjs/core', 'fastify', 'pg', 'undici'],
      postgresql: lineUp.server.version,
    });
  });
}

let users = 0;
/**
 * Returns a user with a new reference and a new EAN. The EAN does not end in zeros, because the service would take it for one that Excel
 * has rounded.
 */
export function nextUser() {
  const number = String(++users);
  return {
    tenantReference: `customer-${number}`,
    gridLocations: [{ ean: `8716${number.padStart(13, '0')}1` }],
    metadata: {},
  };
}

/** Uploads a campaign, and waits until every row has a result. */
export async function runCampaign(
  url: string,
  headers: Readonly<Record<string, string>>,
  database: BenchDatabase,
  count: number,
): Promise<void> {
  const rows = Array.from({ length: count }, nextUser).map(
    ({ tenantReference, gridLocations }) => `${tenantReference},${gridLocations[0]!.ean}`,
  );
  const response = await request(`${url}/api/v1/campaigns`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'text/csv' },
    body: ['tenantReference,ean', ...rows].join('\n'),
  });
  const { id, counts } = (await response.body.json()) as { id: string; counts?: { accepted: number } };
  if (counts?.accepted !== count) throw new Error(`the upload got the status ${response.statusCode}`);
  const over = `SELECT FROM campaigns WHERE id = $1 AND finished_at IS NOT NULL`;
  while ((await database.query(over, [id])).length === 0) await sleep(PAUSE_MS);
}
