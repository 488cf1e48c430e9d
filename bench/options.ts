/** What `npm run bench` was asked for. */
export interface BenchOptions {
  /** Small and short: shows that everything runs, and says little. */
  readonly quick: boolean;
  /** Not a result, and not kept as one: quick, of too few rounds, or slowed down by a profile. */
  readonly isLook: boolean;
  /** Rounds that count. */
  readonly rounds: number;
  /** Of soak. */
  readonly minutes: number;
  /** Folder for .cpuprofile files of our service. */
  readonly profile?: string;
}

export const LEAST_ROUNDS = 7;
const QUICK_ROUNDS = 2;

/** As the whole is run, unless asked otherwise; the soak of the target takes 20 minutes and is asked for by --minutes. */
export const defaults = (quick: boolean) => ({
  rounds: quick ? QUICK_ROUNDS : LEAST_ROUNDS,
  minutes: quick ? 0.5 : 5,
});

export const profileFlags = ({ profile }: BenchOptions): readonly string[] =>
  profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`];
