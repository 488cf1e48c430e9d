/** One contender in one round. */
export interface Sample {
  readonly reads: number;
  readonly elapsedMs: number;
  /** Of the contender's process. */
  readonly cpuMicroseconds: number;
  /** Of all processes of PostgreSQL; null where it cannot be told. */
  readonly serverCpuMicroseconds: number | null;
  readonly walBytes: number;
}

export interface Summary {
  readonly name: string;
  /** Median, least and most reads per second. */
  readonly perSecond: Spread;
  /** Medians per read. */
  readonly cpuMicroseconds: number;
  readonly serverCpuMicroseconds: number | null;
  readonly walBytes: number;
}

export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

export interface Contender {
  readonly name: string;
  round(): Promise<Sample>;
}

/**
 * Every contender once per round, one after the other, so that a slow minute of the machine hits all alike. The first round warms
 * up and is not counted.
 */
export async function interleave(
  contenders: readonly Contender[],
  rounds: number,
): Promise<Map<string, Sample[]>> {
  const samples = new Map(contenders.map(({ name }) => [name, [] as Sample[]]));
  for (let round = 0; round <= rounds; round++) {
    for (const contender of contenders) {
      const sample = await contender.round();
      if (round > 0) samples.get(contender.name)!.push(sample);
    }
    process.stderr.write(round === 0 ? 'warmed up' : ` ${round}/${rounds}`);
  }
  process.stderr.write('\n');
  return samples;
}

export function summarise(name: string, samples: readonly Sample[]): Summary {
  const perRead = (of: (sample: Sample) => number) =>
    median(samples.map((sample) => of(sample) / sample.reads));
  const rates = samples.map(({ reads, elapsedMs }) => (reads * 1_000) / elapsedMs);
  return {
    name,
    perSecond: {
      median: Math.round(median(rates)),
      least: Math.round(Math.min(...rates)),
      most: Math.round(Math.max(...rates)),
    },
    cpuMicroseconds: round1(perRead((sample) => sample.cpuMicroseconds)),
    serverCpuMicroseconds: samples.some((sample) => sample.serverCpuMicroseconds === null)
      ? null
      : round1(perRead((sample) => sample.serverCpuMicroseconds!)),
    walBytes: Math.round(perRead((sample) => sample.walBytes)),
  };
}

/** Of the same round each, so that what slowed a whole round down cancels out. */
export function ratio(samples: readonly Sample[], to: readonly Sample[]): number {
  const rate = ({ reads, elapsedMs }: Sample) => reads / elapsedMs;
  return Number(median(samples.map((sample, round) => rate(sample) / rate(to[round]!))).toFixed(2));
}

const round1 = (value: number): number => Number(value.toFixed(1));

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
