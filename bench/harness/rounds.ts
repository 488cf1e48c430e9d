import type { Control, ResultTable } from './result.js';
import { showProgress } from './progress.js';
import { median, quantile, rounded } from './statistics.js';

export interface Sample {
  /** The number of operations: reads, requests or registrations. */
  readonly count: number;
  readonly elapsedMs: number;
  readonly cpuMicroseconds: number;
  /** CPU time of all PostgreSQL processes; null where it cannot be read. */
  readonly serverCpuMicroseconds: number | null;
  readonly walBytes: number;
  /** 0 if the contender does not count them. */
  readonly roundTrips: number;
  /** The commits that PostgreSQL made durable; fewer if several share one write. */
  readonly commits: number;
}

export interface Contender<S = Sample> {
  readonly name: string;
  round(): Promise<S>;
}

/** Runs all contenders in turn in each round, so that a slow minute affects all. Discards the first round, which warms up. */
export async function interleave<S>(contenders: readonly Contender<S>[], rounds: number) {
  const samples = new Map(contenders.map(({ name }) => [name, [] as S[]]));
  for (let round = 0; round <= rounds; round++) {
    for (const contender of contenders) {
      showProgress(`round ${round} of ${rounds}: ${contender.name}`);
      const sample = await contender.round();
      if (round > 0) samples.get(contender.name)!.push(sample);
    }
  }
  showProgress('');
  return samples;
}

export function summarise(samples: readonly Sample[]) {
  const perOne = (of: (sample: Sample) => number) => median(samples.map((one) => of(one) / one.count));
  const rates = samples.map(rateOf);
  const isServerKnown = samples.every((sample) => sample.serverCpuMicroseconds !== null);
  return {
    perSecond: Math.round(median(rates)),
    spread: `${Math.round(quantile(rates, 0))}-${Math.round(quantile(rates, 1))}`,
    cpuMicroseconds: rounded(perOne((sample) => sample.cpuMicroseconds)),
    serverCpuMicroseconds: isServerKnown ? rounded(perOne((sample) => sample.serverCpuMicroseconds!)) : null,
    walBytes: Math.round(perOne((sample) => sample.walBytes)),
  };
}

/** Returns a table with the rates and costs of all contenders, and the ratio of the rate of `ours` to each. `unit`: what is counted. */
export function rateTable(
  title: string,
  unit: string,
  samples: ReadonlyMap<string, readonly Sample[]>,
  [ours, ratioTitle]: readonly [name: string, ratioTitle: string],
): ResultTable {
  return {
    title,
    columns: [
      '',
      `${unit}s/s`,
      'least-most',
      `own CPU µs per ${unit}`,
      `PostgreSQL CPU µs per ${unit}`,
      `WAL bytes per ${unit}`,
      ratioTitle,
    ],
    rows: [...samples].map(([name, list]) => {
      const { perSecond, spread, cpuMicroseconds, serverCpuMicroseconds, walBytes } = summarise(list);
      const against = name === ours ? null : ratio(samples.get(ours)!, list);
      return [name, perSecond, spread, cpuMicroseconds, serverCpuMicroseconds, walBytes, against];
    }),
  };
}

export const rateOf = ({ count, elapsedMs }: Sample): number => (count * 1_000) / elapsedMs;

/** Returns the median ratio of the rates. Compares samples of the same round, so that a slow round cancels out. */
export const ratio = (samples: readonly Sample[], to: readonly Sample[]): number =>
  ratioOf(samples.map(rateOf), to.map(rateOf));

export const ratioOf = (values: readonly number[], to: readonly number[]): number =>
  rounded(median(values.map((value, round) => value / to[round]!)));

const CONTROL_LEAST = 0.93;
const CONTROL_MOST = 1.07;

/** Compares two equal contenders. Their ratio would be 1 without noise, so its distance from 1 is the error of every figure. */
export function control(values: readonly number[], again: readonly number[]): Control {
  const measured = ratioOf(again, values);
  return {
    ratio: measured,
    least: CONTROL_LEAST,
    most: CONTROL_MOST,
    isValid: measured >= CONTROL_LEAST && measured <= CONTROL_MOST,
  };
}
