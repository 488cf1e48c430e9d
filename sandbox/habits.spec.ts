import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { applyDifferences, newToken, readRecording, timestampOf } from './habits.js';

const RECORDED = readFileSync(new URL('../test/setup/recordings/loose.json', import.meta.url), 'utf8');
type Recording = Readonly<Record<string, unknown>>;
const changed = (change: (recording: Recording) => unknown): string =>
  JSON.stringify(change(JSON.parse(RECORDED) as Recording));
const withField = (field: string) =>
  changed((recording) => ({
    ...recording,
    user: { status: 200, times: null, differences: [{ kind: 'new_field', field, found: 'string' }] },
  }));

describe('a recording', () => {
  it('is read', () => expect(readRecording(RECORDED).user?.status).toBe(201));

  it.each<[string, string, string]>([
    ['damaged', '{"recording":', 'it is not JSON: it may be damaged'],
    ['newer', changed((all) => ({ ...all, version: 2 })), 'version 2 is newer than 1'],
    ['older', changed((all) => ({ ...all, version: 0 })), 'version must be 1'],
    ['a list', '[]', 'the file must be an object'],
    ['of something else', '{"name":"x"}', 'this is not a file of check-remote'],
    ['incomplete', changed(({ token: _, ...rest }) => rest), 'token must be an object'],
    [
      'with a header of the protocol',
      changed((all) => ({ ...all, headers: { 'content-length': '5' } })),
      'headers.content-length is not a header',
    ],
    [
      'with a second header in a value',
      changed((all) => ({ ...all, headers: { allow: 'GET\r\nx: y' } })),
      'headers.allow must be visible ASCII',
    ],
    ['with an unknown field', changed((all) => ({ ...all, script: 'x' })), 'script is not known'],
    [
      'with an impossible status',
      changed((all) => ({ ...all, probe: { status: 99, headers: {}, body: '' } })),
      'probe.status must be a whole number from 200 to 599',
    ],
    [
      'with a field that is a prototype',
      withField('__proto__'),
      'user.differences[0].field must be the name of a field',
    ],
    [
      'with a field that is a path',
      withField('a.b.c'),
      'user.differences[0].field must be the name of a field',
    ],
    [
      'too slow',
      changed((all) => ({ ...all, latencyMs: { probe: 1e9 } })),
      'latencyMs.probe must be a whole number from 0 to 30000',
    ],
    [
      'with a token that fits in no header',
      changed(({ token, ...all }) => ({
        ...all,
        token: { ...(token as object), form: { isJwt: true, length: 9_000 } },
      })),
      'token.form.length must be a whole number from 6 to 8000',
    ],
    ['too large', changed((all) => ({ ...all, recordedAt: 'x'.repeat(300_000) })), 'it is larger than'],
  ])('is refused if it is %s', (_what, text, reason) => expect(() => readRecording(text)).toThrow(reason));

  it('makes a response differ', () => {
    const fields = { id: 'a-b', gridLocations: [{ id: 'x', ean: '1' }], inverters: null };
    const differences = [
      { kind: 'other_type', field: 'id', found: 'another string' },
      { kind: 'missing_field', field: 'gridLocations[].ean', found: null },
      { kind: 'new_field', field: 'inverters[].brand', found: 'string' },
      { kind: 'new_field', field: 'phase', found: 'number' },
    ] as const;
    expect(applyDifferences(fields, differences)).toEqual({
      id: 'ab',
      gridLocations: [{ id: 'x' }],
      inverters: null,
      phase: 1,
    });
  });

  it('makes tokens of its form', () => {
    const opaque = { isJwt: false, length: 40, lifetimeSeconds: null };
    expect(newToken(opaque, 0)).toMatch(/^[\w-]{40}$/);
    const [header, claims, signature] = newToken({ isJwt: true, length: 900, lifetimeSeconds: 60 }, 0).split(
      '.',
    );
    expect(`${header}.${claims}.${signature}`).toHaveLength(900);
    expect(JSON.parse(Buffer.from(claims!, 'base64url').toString())).toMatchObject({ exp: 60 });
  });

  it.each([
    [3, 'Z', '2026-11-20T10:00:00.120Z'],
    [0, 'offset', '2026-11-20T10:00:00+00:00'],
    [6, 'none', '2026-11-20T10:00:00.120000'],
  ] as const)('writes times with %i digits and the zone %s as %s', (fractionDigits, zone, text) =>
    expect(timestampOf(Date.UTC(2026, 10, 20, 10, 0, 0, 120), { fractionDigits, zone })).toBe(text),
  );
});
