import { profileTable, statementTable } from './harness/cost-tables.js';
import { LineUp } from './harness/line-up.js';
import { load, type Load, startLoad } from './harness/load/load.js';
import { report } from './harness/report.js';
import { atLeast } from './harness/result.js';
import { control, interleave, rateOf, type Sample, summarise } from './harness/rounds.js';
import { ADMIN_KEY } from './harness/service-variables.js';
import { median, rounded } from './harness/statistics.js';
import { userBodies } from './harness/user-bodies.js';
import { type BenchOptions, profileFlags } from './options.js';

const OURS = 'POST /users';
const BARE = 'undici alone, the same bodies';
const CONTROL = 'POST /users again';
const LIMITED = 'POST /users, remote limited';
const AT_ONCE = 64;
const LIMIT = 300;

export async function registrationsBench(options: BenchOptions): Promise<void> {
  const users = options.quick ? 1_500 : 5_000;
  const seconds = options.quick ? 3 : 10;
  await LineUp.with({ sessions: 1, remotes: [OURS, BARE, LIMITED] }, async (lineUp) => {
    const script = new URL('./service.process.ts', import.meta.url);
    const database = await lineUp.database('registrations');
    const limitedDatabase = await lineUp.database('limited');
    const shared = { script, concurrency: AT_ONCE };
    const ours = await lineUp.contender({
      ...shared,
      name: OURS,
      database,
      environment: { ROLE: 'all' },
      flags: profileFlags(options),
    });
    const limited = await lineUp.contender({
      ...shared,
      name: LIMITED,
      database: limitedDatabase,
      environment: { ROLE: 'all', SCS_MAX_REQUESTS_PER_SECOND: String(LIMIT) },
    });
    lineUp.remote.setLimit(LIMITED, LIMIT);

    const generators = {
      ours: await startLoad(ours.url, AT_ONCE),
      limited: await startLoad(limited.url, AT_ONCE),
      bare: await startLoad(lineUp.remote.url(BARE), AT_ONCE),
    };
    let next = 0;
    const bodies = (count: number) => userBodies(count, (next += count));
    const through = (count: number): Load => ({
      method: 'POST',
      paths: ['/api/v1/users'],
      headers: { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' },
      bodies: bodies(count),
    });
    const straight = (count: number): Load => ({
      method: 'POST',
      paths: ['/api/v1/ssa/users'],
      headers: { ApiKey: 'bench', authorization: 'Bearer bench', 'content-type': 'application/json' },
      bodies: bodies(count),
    });

    const costs: { statements: number; commits: number }[] = [];
    const ourRound = async (): Promise<Sample> => {
      const what = through(users);
      await database.query('VACUUM registrations, users, grid_locations, domain_events');
      // Keeps only the statements of the last round: in the first round, PostgreSQL planned for empty tables.
      await database.resetStatements();
      const before = await database.counts();
      const sample = await lineUp.measure(users, ours, () => load(generators.ours, users, what, [201]));
      const after = await database.counts();
      costs.push({
        statements: (after.statements - before.statements) / users,
        commits: (after.commits - before.commits) / users,
      });
      return sample;
    };
    const samples = await interleave(
      [
        { name: OURS, round: ourRound },
        {
          name: BARE,
          round: () => {
            const what = straight(users);
            return lineUp.measure(users, generators.bare, () => load(generators.bare, users, what));
          },
        },
        { name: CONTROL, round: ourRound },
      ],
      options.rounds,
    );
    const statements = await database.statements();
    const what = through(users);
    const profile = await ours.profile(() => load(generators.ours, users, what, [201]));
    const limitedUsers = LIMIT * seconds;
    const limitedSamples = await interleave(
      [
        {
          name: LIMITED,
          round: () => {
            const what = through(limitedUsers);
            return lineUp.measure(limitedUsers, limited, () =>
              load(generators.limited, limitedUsers, what, [201]),
            );
          },
        },
      ],
      options.rounds,
    );
    const flow = await lineUp.remote.flow(LIMITED);
    for (const generator of Object.values(generators)) await generator.stop();

    const rates = samples.get(OURS)!;
    const limitedRates = limitedSamples.get(LIMITED)!;
    const perRegistration = (of: 'statements' | 'commits') => rounded(median(costs.map((cost) => cost[of])));
    await report({
      benchmark: 'registrations',
      title: 'Registrations',
      extent: `${users} users a round, ${AT_ONCE} requests at once, ${options.rounds} rounds; ${limitedUsers} users a round where the remote service takes ${LIMIT} a second`,
      isTrial: options.isTrial,
      control: control(rates.map(rateOf), samples.get(CONTROL)!.map(rateOf)),
      targets: [
        atLeast('users a second, on two cores', 300, rounded(median(rates.map(rateOf)))),
        atLeast(
          `of what a remote service limited to ${LIMIT}/s allows`,
          0.9,
          rounded(median(limitedRates.map(rateOf)) / LIMIT),
        ),
      ],
      tables: [
        {
          title: 'Registering users',
          columns: [
            '',
            'users/s',
            'least-most',
            'own CPU µs per user',
            'PostgreSQL CPU µs per user',
            'WAL bytes per user',
          ],
          bar: 1,
          rows: [...samples, ...limitedSamples].map(([name, list]) => {
            const { perSecond, spread, cpuMicroseconds, serverCpuMicroseconds, walBytes } = summarise(list);
            return [name, perSecond, spread, cpuMicroseconds, serverCpuMicroseconds, walBytes];
          }),
        },
        {
          title: 'What one registration costs',
          columns: ['', 'per registration'],
          rows: [
            ['database statements', perRegistration('statements')],
            ['commits', perRegistration('commits')],
            [
              'refused by the limited remote service, of all it was sent',
              rounded(flow.refused / flow.requests),
            ],
          ],
        },
        profileTable('Where the CPU of POST /users goes', profile),
        statementTable(
          'Statements of POST /users',
          statements.filter(({ totalMs }) => (totalMs * 1_000) / users >= 1),
          'registration',
          users,
        ),
      ],
      packages: ['@nestjs/core', 'fastify', 'pg', 'axios', 'undici'],
      postgresql: lineUp.server.version,
      details: { statements },
    });
  });
}
