import { describe, expect, it } from '@jest/globals';
import { bytesOf, CONFIG, filesLike, finishInImage } from './image.js';

const MEGABYTE = 2 ** 20;

describe('the image', () => {
  it('adds less than 120 MB to its base, and nothing that only compilers and debuggers need', () => {
    expect(bytesOf('/app')).toBeLessThan(120 * MEGABYTE);
    expect(filesLike('/app/node_modules', '*.map', '*.d.ts', '*.d.mts', '*.d.cts')).toEqual([]);
    expect(filesLike('/app/dist', '.tsbuildinfo', '*.spec.js')).toEqual([]);
    expect(filesLike('/usr/local', 'npm*', 'yarn*')).toEqual([]);
    // Shows that the searches above find files in a folder that exists.
    expect(filesLike('/app/node_modules/pg', 'package.json')).toHaveLength(1);
  });

  it('is labelled, maps its stack traces and runs Node 24', async () => {
    expect(CONFIG.Labels).toMatchObject({
      'org.opencontainers.image.title': 'PV Onboarding',
      'org.opencontainers.image.revision': 'checked',
    });
    expect((await finishInImage(['cat', '/app/commit'])).output).toBe('checked');
    const { output } = await finishInImage([
      'node',
      '-p',
      'process.sourceMapsEnabled + " " + process.version',
    ]);
    expect(output).toMatch(/^true v24\./);
    expect(filesLike('/app/dist', 'main.js.map')).not.toEqual([]);
  });

  it('runs as node without capabilities, on files that it cannot change', async () => {
    const { output } = await finishInImage([
      'sh',
      '-c',
      'id -un; grep CapBnd /proc/self/status; touch /app/x',
    ]);
    expect(output).toMatch(/^node\nCapBnd:\s+0+\ntouch: .*Read-only file system\n$/);
  });

  it('names the settings that are missing', async () => {
    const { code, output } = await finishInImage(CONFIG.Cmd);
    expect(code).toBe(1);
    expect(output).toContain('DATABASE_URL is required in production');
  });
});
