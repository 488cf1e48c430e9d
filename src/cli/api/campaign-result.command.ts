import { open, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Command } from 'commander';
import { readId } from '../read-input.js';
import { at } from './api-command.js';
import type { FindApi } from './service-api.js';

export const campaignResultCommand = (findApi: FindApi): Command =>
  new Command('result')
    .description('download the file with the result of each row, as CSV')
    .argument('<id>', 'from `campaigns list`', readId)
    .option('--output <file>', 'a new file, which only you can read; default: the standard output')
    .action(async (id: string, { output }: { output?: string }) => {
      const api = await findApi();
      const file = output === undefined ? undefined : await open(output, 'wx', 0o600);
      try {
        await api.run(async (client) => {
          const request = { ...at(id), parseAs: 'stream' } as const;
          const { data } = await client.GET('/api/v1/campaigns/{id}/result.csv', request);
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
