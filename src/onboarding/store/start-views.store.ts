import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { after, NEWEST_FIRST, type ListPosition } from '../../platform/database/list-position.js';
import type { StartsQuery, StartStatus, StartView } from '../api/starts.view.js';

const PLACE = { select: { userId: true, user: { select: { tenantReference: true } } } } as const;

@Injectable()
export class StartViewsStore {
  constructor(private readonly database: Database) {}

  /** Returns at most `limit` starts after `position`, newest first. */
  async listStarts(
    { userId, gridLocationId, status }: Omit<StartsQuery, 'limit' | 'cursor'>,
    position: ListPosition | undefined,
    limit: number,
  ): Promise<StartView[]> {
    const starts = await this.database.prisma.sessionStart.findMany({
      where: {
        gridLocationId,
        status,
        ...(userId !== undefined && { gridLocation: { userId } }),
        ...(position && after(position)),
      },
      select: {
        id: true,
        gridLocationId: true,
        brand: true,
        status: true,
        lastError: true,
        attempts: true,
        orphans: true,
        sessionId: true,
        createdAt: true,
        updatedAt: true,
        gridLocation: PLACE,
      },
      orderBy: NEWEST_FIRST,
      take: limit,
    });
    return starts.map(({ lastError, gridLocation, status: given, ...start }) => ({
      ...start,
      status: given as StartStatus,
      error: lastError,
      userId: gridLocation.userId,
      tenantReference: gridLocation.user.tenantReference,
    }));
  }
}
