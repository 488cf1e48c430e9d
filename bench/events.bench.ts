import { burstRound, burstsOf, RELAY } from './events/many-at-once.js';
import { CONTROL, type Delay, HANDLER, latencyRound, NOTIFY, STREAM, waysOf } from './events/one-by-one.js';
import { prepareParts, UNUSED_REMOTE } from './events/parts.js';
import { LineUp } from './harness/line-up.js';
import { report } from './harness/report.js';
import { atLeast, atMost } from './harness/result.js';
import { control, interleave, ratioOf } from './harness/rounds.js';
import { median, medianAndTail, quantile } from './harness/statistics.js';
import type { BenchOptions } from './options.js';

export async function eventsBench(options: BenchOptions): Promise<void> {
  const events = options.quick ? 20 : 200;
  await LineUp.with({ sessions: 1, remotes: [UNUSED_REMOTE] }, async (lineUp) => {
    const parts = await prepareParts(lineUp);
    try {
      const ways = waysOf(parts);
      const latencies = await interleave(
        ways.map((way) => ({ name: way.name, round: () => latencyRound(way, events) })),
        options.rounds,
      );
      const bursts = await interleave(
        burstsOf(parts, options.quick).map((burst) => ({ name: burst.name, round: () => burstRound(burst) })),
        options.rounds,
      );
      const medians = (name: string, since: keyof Delay) =>
        latencies.get(name)!.map((round) => median(round.map((delay) => delay[since])));
      const against = (name: string, since: keyof Delay) =>
        ratioOf(medians(name, since), medians(NOTIFY, since));
      const rate = (name: string) => Math.round(median(bursts.get(name)!));
      await report({
        benchmark: 'events',
        title: 'Events',
        extent: `${events} events one by one a round, ${options.rounds} rounds; then all at once`,
        isTrial: options.isTrial,
        control: control(medians(NOTIFY, 'sinceAppendMs'), medians(CONTROL, 'sinceAppendMs')),
        targets: [
          atMost('append to handler, times bare LISTEN/NOTIFY', 3, against(HANDLER, 'sinceAppendMs')),
          atMost('append to stream, times bare LISTEN/NOTIFY', 3, against(STREAM, 'sinceAppendMs')),
          atLeast('events/s through the relay to a sink that does nothing', 15_000, rate(RELAY)),
        ],
        tables: [
          {
            title: 'One event at a time',
            columns: [
              'until it is there',
              'since it was appended: ms, median',
              'ms, 99 %',
              'since its commit was known: ms, median',
              'ms, 99 %',
              'times bare LISTEN/NOTIFY, since the append',
              'and since the commit',
            ],
            rows: [...latencies].map(([name, rounds]) => [
              name,
              ...medianAndTail(rounds.flat().map(({ sinceAppendMs }) => sinceAppendMs)),
              ...medianAndTail(rounds.flat().map(({ sinceCommitMs }) => sinceCommitMs)),
              against(name, 'sinceAppendMs'),
              against(name, 'sinceCommitMs'),
            ]),
          },
          {
            title: 'Many at once',
            columns: ['', 'events/s', 'least-most'],
            rows: [...bursts].map(([name, rates]) => [
              name,
              rate(name),
              `${Math.round(quantile(rates, 0))}-${Math.round(quantile(rates, 1))}`,
            ]),
          },
        ],
        packages: ['pg', 'undici', '@nestjs/core'],
        postgresql: lineUp.server.version,
      });
    } finally {
      await parts.end();
    }
  });
}
