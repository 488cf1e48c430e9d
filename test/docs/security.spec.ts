import { access, readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { Environment } from '../../src/platform/env/environment.js';
import { RESPONSE_HEADERS } from '../../src/platform/http/connection-refusals.js';
import { HeldRequests } from '../../src/platform/http/held-requests.js';
import { HTTP_LIMITS } from '../../src/platform/http/http-limits.js';
import { anchorsOf } from './readme.js';

const FILE = new URL('../../docs/security.md', import.meta.url);

describe('docs/security.md', () => {
  let text: string;
  beforeAll(async () => {
    text = await readFile(FILE, 'utf8');
  });

  it('has no broken links', async () => {
    const links = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, link = '']) => link);
    expect(links.length).toBeGreaterThan(10);
    for (const link of links) {
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? FILE : new URL(path, FILE);
      await access(target);
      if (anchor !== undefined) expect(anchorsOf(await readFile(target, 'utf8'))).toContain(anchor);
    }
  });

  it('names the limits that the code has', () => {
    const {
      headersMs,
      requestMs,
      idleMs,
      headerBytes,
      bodyBytes,
      connections,
      pipeliningConnections,
      discardedBytes,
    } = HTTP_LIMITS;
    const { ceiling, share } = new HeldRequests();
    const limits = [
      `${headerBytes / 1024} kB, within ${headersMs / 1_000} s`,
      `${bodyBytes / 1024} kB, the whole request within ${requestMs / 1_000} s`,
      `${idleMs / 1_000} s`,
      connections.toLocaleString('en'),
      pipeliningConnections.toLocaleString('en'),
      `${discardedBytes / 1024 / 1024} MB`,
      ceiling.toLocaleString('en'),
      share.toLocaleString('en'),
      `\`API_MAX_REQUESTS_PER_SECOND\`, ${new Environment().API_MAX_REQUESTS_PER_SECOND}, over ten seconds`,
    ];
    for (const limit of limits) expect(text).toContain(`| ${limit}`);
  });

  it('names the headers that every response has', () => {
    for (const [name, value] of Object.entries(RESPONSE_HEADERS))
      expect(text).toContain(`\`${name}: ${value}\``);
  });
});
