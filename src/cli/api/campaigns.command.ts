import { open, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import { CAMPAIGN_STATUSES, ROW_PROBLEMS, ROW_STATUSES } from '../../campaigns/campaign.rules.js';
import { ApiCommand, at } from './api-command.js';
import { wordsOf } from './campaign-report.js';
import type { FindApi } from './service-api.js';
import { age, cut } from './table.js';

const LIST = '/api/v1/campaigns';
const ONE = '/api/v1/campaigns/{id}';

export function campaignsCommand(findApi: FindApi): Command {
  const campaigns = new ApiCommand('campaigns', findApi).description(
    'list, show, pause, resume, cancel and delete campaigns, and read their rows and results',
  );
  campaigns
    .listCommand('list', 'list campaigns and dry runs, newest first', LIST, {
      ID: ({ id }) => id,
      STATUS: ({ status }) => status,
      AGE: ({ createdAt }) => age(createdAt),
      ROWS: ({ rows }) => rows,
      NAME: ({ name }) => cut(name, 30),
    })
    .choice('--status <status>', 'only in this status', CAMPAIGN_STATUSES);
  campaigns
    .itemCommand('show', 'show a campaign and its progress')
    .calls((client, id: string) => client.GET(ONE, at(id)));
  campaigns
    .itemCommand('rows', 'list the rows of a campaign with their problems, in the order of the file')
    .choice('--status <status>', 'only in this status', ROW_STATUSES)
    .choice('--problem <code>', 'only with this problem', ROW_PROBLEMS)
    .callsPage(
      (client, id: string, query: object) => client.GET(`${ONE}/rows`, { params: { path: { id }, query } }),
      {
        LINE: ({ line }) => line,
        STATUS: ({ status }) => status,
        EAN: ({ ean }) => ean,
        REFERENCE: ({ tenantReference }) => cut(tenantReference, 24),
        PROBLEMS: ({ problems }) => problems.map(wordsOf).join('; '),
      },
    );
  campaigns
    .itemCommand('pause', 'send no further row; what has been sent still gets its result')
    .calls((client, id: string) => client.POST(`${ONE}/pause`, at(id)));
  campaigns
    .itemCommand('resume', 'continue a paused campaign')
    .calls((client, id: string) => client.POST(`${ONE}/resume`, at(id)));
  campaigns
    .itemCommand('cancel', 'end a campaign: rows that have not been sent are never sent')
    .confirms((_client, id: string) => `this cancels the campaign ${id}. This cannot be undone.`)
    .calls((client, id: string) => client.POST(`${ONE}/cancel`, at(id)));
  campaigns
    .itemCommand('delete', 'delete a campaign that has ended, or a dry run, with its rows')
    .confirms(
      (_client, id: string) => `this deletes the campaign ${id} with its rows. This cannot be undone.`,
    )
    .deletes((client, id) => client.DELETE(ONE, at(id)));
  campaigns
    .itemCommand('result', 'download the file with the result of each row, as CSV')
    .option('--output <file>', 'a new file, which only you can read; default: the standard output')
    .action(async (id: string, { output }: { output?: string }) => {
      const api = await findApi();
      const file = output === undefined ? undefined : await open(output, 'wx', 0o600);
      try {
        await api.run(async (client) => {
          const { data } = await client.GET(`${ONE}/result.csv`, { ...at(id), parseAs: 'stream' });
          const target = file?.createWriteStream() ?? process.stdout;
          await pipeline(Readable.fromWeb(data as never), target, { end: file !== undefined });
        });
      } catch (error) {
        if (output !== undefined) await rm(output);
        throw error;
      } finally {
        await file?.close();
      }
    });
  return campaigns;
}
