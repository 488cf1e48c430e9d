import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { useTestApp } from '../setup/test-app.js';
import { reportOf, rowsOf, upload } from './campaign-client.js';

const MANIFEST = 'manifest.json';
const FOLDERS = ['eans', 'encodings', 'headers', 'layout', 'rows'];
const folderOf = (name: string) => new URL(`files/${name}/`, import.meta.url);

interface WorstFile {
  readonly file: string;
  /** How such a file is made in practice. */
  readonly reason: string;
  /** The code and the detail of the problem, if the whole file is refused. */
  readonly problem?: readonly [code: string, detail: string];
  /** The detected type, encoding, byte order mark and delimiter. */
  readonly format?: readonly unknown[];
  /** The rows in the form of `reportOf`. */
  readonly rows?: readonly string[];
}

const listed = (folder: string): WorstFile[] =>
  JSON.parse(readFileSync(new URL(MANIFEST, folderOf(folder)), 'utf8')) as WorstFile[];

describe.each(FOLDERS)('the worst files of test/campaigns/files/%s', (folder) => {
  const service = useTestApp();

  it('are all in its manifest', () => {
    const files = readdirSync(folderOf(folder)).filter((name) => name !== MANIFEST);
    expect(listed(folder).map(({ file }) => file)).toEqual(files.sort());
  });

  it.each(listed(folder))('$file: $reason', async ({ file, problem, format, rows }) => {
    const { status, body } = await upload(service, readFileSync(new URL(file, folderOf(folder))));
    if (problem !== undefined) {
      expect([body.code, body.detail]).toEqual(problem);
      expect(status).toBe(body.code === 'unsupported_media_type' ? 415 : 400);
      return;
    }
    expect([status, body.detail]).toEqual([202, undefined]);
    const { type, encoding, bom, delimiter } = body.format;
    expect([type, encoding, bom ? 'with BOM' : 'without BOM', delimiter]).toEqual(format);
    expect(reportOf(await rowsOf(service, body.id))).toEqual(rows);
  });
});
