import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Problem } from '../problem/problem.js';

/** A worker answers for its health and metrics alone: requests must not take from the pace of polling. */
export class WorkerGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { url } = context.switchToHttp().getRequest<FastifyRequest>();
    if (!url.startsWith('/api/')) return true;
    throw new Problem('not_found', 'This process is a worker; requests go to one with ROLE api or all');
  }
}
