import { secondsUntilReads } from '../../src/brands/habits.rules.js';
import { LANE_STARTS_SECONDS, LANES, shareOfFresh } from '../../src/onboarding/poll/lanes.rules.js';
import {
  AGES_PER_E,
  allowedPerSecond,
  stretchFor,
  wantedPerSecond,
  type AgeGroup,
} from '../../src/onboarding/rules/read-budget.rules.js';
import {
  planNextReadMs,
  type OpenPhase,
  type ScheduleSettings,
} from '../../src/onboarding/rules/schedule.rules.js';
import { EXPIRES_AT, WATCHED, type Life, type Population } from './populations.js';
import type { Random } from './random.js';
import { watchedSession, type HabitsOf } from './schedules.js';

/** The longest and the shortest period between two measures of the read budget, as in read-budget.service.ts. */
const MOST_PERIOD = 15;
const LEAST_PERIOD = 1;
/**
 * The seconds between two scans, for each open session. The service scans a thousand times as often (a million sessions every 50 s), but
 * the simulation would spend most of its time on such scans.
 */
const SCAN_PERIOD_PER_SESSION = 0.05;

export interface Conditions {
  readonly settings: ScheduleSettings;
  /** The value of SCS_MAX_REQUESTS_PER_SECOND. The poller gets all of it. */
  readonly perSecond: number;
  /** The time from which reads and ended sessions are recorded, in seconds of the simulation. */
  readonly recordFrom: number;
  /** Default: no habits are known. */
  readonly habits?: HabitsOf | undefined;
}

export class Session {
  dueAt = 0;
  claimedAt: number;
  expiredAt: number | null = null;
  /** When the watch ends: at the read that notices the change, or else at the last read. */
  endedAt = Infinity;

  constructor(
    readonly life: Life,
    readonly startedAt: number,
  ) {
    this.claimedAt = startedAt;
  }

  get delay(): number {
    return this.endedAt - this.startedAt - this.life.changeAt;
  }
}

/** The poller, the read budget and the claim, with the rules of the service, but without its database. */
export class Service {
  stretch = 1;
  /** The number of reads since `recordFrom`. */
  reads = 0;
  /** The sessions whose watch has ended since `recordFrom`. */
  readonly ended: Session[] = [];
  private now = 0;
  private readonly period: number;
  private readonly planned = new Heap();
  private readonly due: Lanes;
  private scanAt = 0;

  constructor(
    private readonly conditions: Conditions,
    private readonly random: Random,
  ) {
    this.period = Math.min(MOST_PERIOD, Math.max(LEAST_PERIOD, conditions.settings.minIntervalMs / 1_000));
    this.due = new Lanes(random);
  }

  get open(): number {
    return this.planned.sessions.length + this.due.size;
  }

  /** Sessions must be in the order of their starts. */
  run(sessions: Iterator<Session>, until: number): void {
    const { perSecond } = this.conditions;
    let starting = sessions.next();
    let [slotAt, stepAt] = [0, this.period];
    for (;;) {
      const arrivesAt = Math.min(
        starting.done === true ? Infinity : starting.value.startedAt,
        this.planned.sessions[0]?.dueAt ?? Infinity,
      );
      const readAt = this.due.size > 0 ? slotAt : Math.max(slotAt, arrivesAt);
      const at = Math.min(readAt, stepAt);
      if (at > until) return;
      this.now = at;
      if (at === stepAt) {
        this.step();
        stepAt += this.period;
        continue;
      }
      for (; starting.done !== true && starting.value.startedAt <= at; starting = sessions.next())
        this.plan(starting.value);
      while ((this.planned.sessions[0]?.dueAt ?? Infinity) <= at) this.due.add(this.planned.take());
      if (this.due.size > 0) {
        this.read(this.due.take(at));
        slotAt = at + 1 / perSecond;
      }
    }
  }

  private plan(session: Session): void {
    const watched = { age: this.now - session.startedAt, expiredAt: session.expiredAt };
    const { population } = session.life;
    const state = watchedSession(population.phase, watched, this.conditions.habits?.(population));
    const ms = planNextReadMs(state, ORIGIN, this.conditions.settings, this.stretch, this.random());
    session.claimedAt = this.now;
    session.dueAt = this.now + ms / 1_000;
    this.planned.add(session);
  }

  private read(session: Session): void {
    const age = this.now - session.startedAt;
    const isRecorded = this.now >= this.conditions.recordFrom;
    if (isRecorded) this.reads++;
    if (age >= session.life.changeAt || age >= WATCHED) {
      session.endedAt = this.now;
      if (isRecorded) this.ended.push(session);
    } else {
      if (age >= EXPIRES_AT) session.expiredAt ??= age;
      this.plan(session);
    }
  }

  private step(): void {
    const { perSecond, settings } = this.conditions;
    if (this.now < this.scanAt) return;
    this.stretch = stretchFor(wantedPerSecond(this.groupByAge(), settings), allowedPerSecond(perSecond));
    this.scanAt = this.now + this.open * SCAN_PERIOD_PER_SESSION;
  }

  private groupByAge(): AgeGroup[] {
    const counts = new Map<Population, { readonly open: Int32Array; readonly late: Int32Array }>();
    const count = ({ life: { population }, expiredAt, startedAt }: Session) => {
      const age = this.now - startedAt - (expiredAt ?? 0);
      const ofPopulation = counts.get(population) ?? {
        open: new Int32Array(OLDEST_GROUP),
        late: new Int32Array(OLDEST_GROUP),
      };
      counts.set(population, ofPopulation);
      ofPopulation[expiredAt === null ? 'open' : 'late'][
        Math.floor(AGES_PER_E * Math.log(Math.max(1, age)))
      ]!++;
    };
    this.planned.sessions.forEach(count);
    this.due.forEach(count);
    return [...counts].flatMap(([population, { open, late }]) => {
      const habits = this.conditions.habits?.(population);
      const groupsOf = (phase: OpenPhase, ofPhase: Int32Array): AgeGroup[] => {
        const hazards = habits?.[phase];
        const learned = hazards && secondsUntilReads(hazards);
        return Array.from(ofPhase, (sessions, age) => ({ phase, age, sessions, secondsUntilReads: learned }));
      };
      return [...groupsOf(population.phase, open), ...groupsOf('late', late)].filter(
        ({ sessions }) => sessions > 0,
      );
    });
  }
}

const ORIGIN = new Date(0);
/** A group of ages beyond the age of any session. */
const OLDEST_GROUP = AGES_PER_E * 20;

/**
 * The due sessions that are not claimed, in the order of SELECT_DUE in polls.sql.ts. Claims one session at a time, as under a budget of 2
 * reads per second.
 */
class Lanes {
  size = 0;
  // In each lane, the sessions that are too late to be fresh precede the fresh ones.
  private readonly lanes = LANES.map((lane) => ({ ...lane, late: new Queue(), fresh: new Queue() }));

  constructor(private readonly random: Random) {}

  /** Adds a session. Call it in the order of the due times. */
  add(session: Session): void {
    const interval = session.dueAt - session.claimedAt;
    const lane = LANE_STARTS_SECONDS.filter((start) => start <= interval).length;
    this.lanes[lane]!.fresh.add(session);
    this.size++;
  }

  take(now: number): Session {
    this.size--;
    for (const { fresh, late, lateAfterSeconds } of this.lanes)
      while (fresh.first !== undefined && now - fresh.first.dueAt > lateAfterSeconds) late.add(fresh.take());
    const fresh =
      shareOfFresh(1, this.random()) === 1 && this.lanes.find((lane) => lane.fresh.first !== undefined);
    return (fresh || undefined)?.fresh.take() ?? this.takeLatest(now);
  }

  private takeLatest(now: number): Session {
    const lateness = ({ late, fresh, longestSeconds }: (typeof this.lanes)[number]) =>
      (now - ((late.first ?? fresh.first)?.dueAt ?? Infinity)) / longestSeconds;
    const { late, fresh } = this.lanes.reduce((a, b) => (lateness(b) > lateness(a) ? b : a));
    return (late.first === undefined ? fresh : late).take();
  }

  forEach(visit: (session: Session) => void): void {
    for (const { late, fresh } of this.lanes) {
      late.forEach(visit);
      fresh.forEach(visit);
    }
  }
}

/** Takes sessions in the order in which they were added. */
class Queue {
  private sessions: Session[] = [];
  private taken = 0;

  get first(): Session | undefined {
    return this.sessions[this.taken];
  }

  add(session: Session): void {
    this.sessions.push(session);
  }

  take(): Session {
    const first = this.sessions[this.taken++]!;
    if (this.taken > 1_000 && this.taken * 2 > this.sessions.length) {
      this.sessions = this.sessions.slice(this.taken);
      this.taken = 0;
    }
    return first;
  }

  forEach(visit: (session: Session) => void): void {
    for (let i = this.taken; i < this.sessions.length; i++) visit(this.sessions[i]!);
  }
}

/** A binary heap. The first session is the next one due. */
class Heap {
  readonly sessions: Session[] = [];

  add(session: Session): void {
    const { sessions } = this;
    let at = sessions.length;
    for (let above; at > 0 && sessions[(above = (at - 1) >> 1)]!.dueAt > session.dueAt; at = above)
      sessions[at] = sessions[above]!;
    sessions[at] = session;
  }

  take(): Session {
    const { sessions } = this;
    const first = sessions[0]!;
    const last = sessions.pop()!;
    if (sessions.length === 0) return first;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below + 1 < sessions.length && sessions[below + 1]!.dueAt < sessions[below]!.dueAt) below++;
      if (below >= sessions.length || sessions[below]!.dueAt >= last.dueAt) break;
      sessions[at] = sessions[below]!;
      at = below;
    }
    sessions[at] = last;
    return first;
  }
}
