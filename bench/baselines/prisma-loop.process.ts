import { PrismaPg } from '@prisma/adapter-pg';
import axios from 'axios';
import pg from 'pg';
import { PrismaClient } from '../../src/platform/database/generated/client.js';
import { takePart } from '../harness/contender.js';

interface SessionBody {
  readonly finished: boolean;
  readonly active: boolean;
  readonly expired: boolean;
  readonly updatedAt: string;
  readonly inverters: readonly { readonly id: string }[];
}

const PAGE = 500;
const NEXT_READ_MS = 15 * 60_000;

// The simplest loop: find due sessions, read them concurrently, save the changed ones. It has no lease, stores no response, writes no
// history and appends no event.
takePart(async ({ remoteUrl, databaseUrl, concurrency }) => {
  const prisma = new PrismaClient({
    adapter: new PrismaPg(new pg.Pool({ connectionString: databaseUrl, max: concurrency })),
  });
  const headers = { ApiKey: 'bench', authorization: 'Bearer benchmark', accept: 'application/json' };

  const findDue = (take: number) =>
    prisma.sessionPoll.findMany({
      where: { dueAt: { lte: new Date() } },
      orderBy: { dueAt: 'asc' },
      take,
      include: { session: true },
    });
  type Due = Awaited<ReturnType<typeof findDue>>[number];

  const readOne = async ({ sessionId, session }: Due): Promise<void> => {
    const { data } = await axios.get<SessionBody>(`${remoteUrl}/api/v1/ssa/onboarding/pv/${sessionId}`, {
      headers,
    });
    const now = new Date();
    const updatedAt = new Date(data.updatedAt);
    await prisma.sessionPoll.update({
      where: { sessionId },
      data: { checkedAt: now, dueAt: new Date(now.getTime() + NEXT_READ_MS) },
    });
    if (updatedAt.getTime() === session.updatedAt.getTime()) return;
    await prisma.onboardingSession.update({
      where: { id: sessionId },
      data: {
        state: data.finished ? 'online' : session.state,
        finished: data.finished,
        active: data.active,
        expired: data.expired,
        updatedAt,
        inverters: {
          connectOrCreate: data.inverters.map(({ id }) => ({
            where: { sessionId_id: { sessionId, id } },
            create: { id, firstSeenAt: now, lastSeenAt: now },
          })),
        },
      },
    });
  };

  return {
    run: async (reads: number) => {
      for (let read = 0; read < reads;) {
        const due = await findDue(Math.min(PAGE, reads - read));
        for (let i = 0; i < due.length; i += concurrency)
          await Promise.all(due.slice(i, i + concurrency).map(readOne));
        read += due.length;
      }
    },
  };
});
