export interface BenchOptions {
  /** Whether the run is a short trial, which only shows that everything works. */
  readonly quick: boolean;
  /** Whether the run is not a valid result: it is quick, has too few rounds, or is profiled. */
  readonly isTrial: boolean;
  /** The number of measured rounds. They follow one round that warms up. */
  readonly rounds: number;
  /** Folder for .cpuprofile files of our service. */
  readonly profile?: string;
}

export const LEAST_ROUNDS = 7;
const QUICK_ROUNDS = 2;

export const defaultRounds = (quick: boolean): number => (quick ? QUICK_ROUNDS : LEAST_ROUNDS);

export const profileFlags = ({ profile }: BenchOptions): readonly string[] =>
  profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`];
