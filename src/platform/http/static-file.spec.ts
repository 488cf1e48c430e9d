import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { useFolder } from '../../../test/setup/folder.js';
import { fastify } from 'fastify';
import { readStaticFiles, StaticFile } from './static-file.js';

describe('the files of a folder', () => {
  const folder = useFolder();

  it('are those of known types, by their path, but none of a hidden folder', async () => {
    for (const path of ['.hidden/a.json', 'b.js', 'assets/c.css', 'assets/d.map', '.e.js']) {
      await mkdir(join(folder, path, '..'), { recursive: true });
      await writeFile(join(folder, path), path);
    }
    const files = readStaticFiles(folder, (path, body) => Buffer.from(`${path}: ${String(body)}`));
    expect([...files].map(([path, { type, body }]) => [path, type, String(body)]).sort()).toEqual([
      ['assets/c.css', 'text/css; charset=utf-8', 'assets/c.css: assets/c.css'],
      ['b.js', 'text/javascript; charset=utf-8', 'b.js: b.js'],
    ]);
    expect(readStaticFiles(join(folder, 'none'))).toEqual(new Map());
  });
});

describe('a file', () => {
  const file = new StaticFile('a.html', Buffer.from('<p>'.repeat(100)));
  const strong = file.etag.replace('W/', '');
  const server = fastify();
  server.get('/', (request, reply) => file.send(request, reply));
  const get = (headers: Record<string, string>) => server.inject({ url: '/', headers });

  it.each([
    [{}, 200],
    [{ 'if-none-match': '"other"' }, 200],
    [{ 'if-none-match': file.etag }, 304],
    [{ 'if-none-match': strong }, 304],
    [{ 'if-none-match': `"other", ${file.etag}` }, 304],
    [{ 'if-none-match': '*' }, 304],
  ] as [Record<string, string>, number][])('requested with %j is a %i', async (headers, status) => {
    const { statusCode, headers: returned, rawPayload } = await get(headers);
    expect([statusCode, returned.etag, returned.vary]).toEqual([status, file.etag, 'accept-encoding']);
    expect(rawPayload).toEqual(status === 304 ? Buffer.alloc(0) : file.body);
  });

  it('is compressed for those who read that', async () => {
    const { headers, rawPayload } = await get({ 'accept-encoding': 'br, gzip' });
    expect([headers['content-encoding'], headers['content-type']]).toEqual(['gzip', file.type]);
    expect(gunzipSync(rawPayload)).toEqual(file.body);
  });

  it.each([
    ['gzip;q=0', undefined],
    ['br, gzip ; q=0.000, *', undefined],
    ['identity', undefined],
    ['gzip;q=0.5', 'gzip'],
    ['GZIP, br;q=0', 'gzip'],
  ])('requested with the encodings %s has the encoding %s', async (encodings, encoding) => {
    expect((await get({ 'accept-encoding': encodings })).headers['content-encoding']).toBe(encoding);
  });
});
