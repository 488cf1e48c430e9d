import type { Control } from './result.js';
import { showProgress } from './progress.js';
import { median, quantile, rounded } from './statistics.js';

/** One contender in one round. */
export interface Sample {
  /** Of whatever is counted: reads, requests, registrations. */
  readonly count: number;
  readonly elapsedMs: number;
  /** Of the contender's process. */
  readonly cpuMicroseconds: number;
  /** Of all processes of PostgreSQL; null where it cannot be told. */
  readonly serverCpuMicroseconds: number | null;
  readonly walBytes: number;
}

export interface Contender<S = Sample> {
  readonly name: string;
  round(): Promise<S>;
}

/**
 * Every contender once per round, one after the other, so that a slow minute of the machine hits all alike. The first round warms
 * up and is not counted.
 */
export async function interleave<S>(
  contenders: readonly Contender<S>[],
  rounds: number,
): Promise<Map<string, S[]>> {
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

/** Median, least and most per second; medians of the costs of one. */
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

export const rateOf = ({ count, elapsedMs }: Sample): number => (count * 1_000) / elapsedMs;

/** Of the same round each, so that what slowed a whole round down cancels out. */
export const ratio = (samples: readonly Sample[], to: readonly Sample[]): number =>
  ratioOf(samples.map(rateOf), to.map(rateOf));

export const ratioOf = (values: readonly number[], to: readonly number[]): number =>
  rounded(median(values.map((value, round) => value / to[round]!)));

/** The same thing twice, measured like everything else: how far that is from 1 is how far nothing here can be trusted. */
const CONTROL_LEAST = 0.93;
const CONTROL_MOST = 1.07;

export function control(values: readonly number[], again: readonly number[]): Control {
  const measured = ratioOf(again, values);
  return {
    ratio: measured,
    least: CONTROL_LEAST,
    most: CONTROL_MOST,
    isValid: measured >= CONTROL_LEAST && measured <= CONTROL_MOST,
  };
}
