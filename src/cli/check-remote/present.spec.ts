import { expect, it } from '@jest/globals';
import { NEVER_ASKED } from './judge.rules.js';
import { linesOf, reportOf, wrap } from './present.rules.js';
import { NOW } from './seen.example.js';

it('is a table for people, and a page that names only what differs', () => {
  const findings = [
    { check: 'probe', level: 'fits', says: 'nothing', saw: 'status 200', means: '' },
    {
      check: 'limits',
      level: 'differs',
      says: 'a|b',
      saw: 'c '.repeat(18).trim(),
      means: 'Ask.',
      setting: 'X=1',
    },
    { check: 'clock', level: 'fails', says: '', saw: 'd', means: '', setting: 'X=1' },
  ] as const;
  expect(linesOf(findings, ['why not'])).toEqual([
    '  check                       interface says              we saw                              what it means for you',
    '  probe                       nothing                     status 200',
    '~ limits                      a|b                         c c c c c c c c c c c c c c c c c   Ask.',
    '                                                          c',
    '! clock                                                   d',
    '',
    '  fits   ~ differs   ! fails',
    '',
    'Settings that follow:',
    '  X=1',
    '',
    'Not asked:',
    '  - why not',
    ...NEVER_ASKED.map((text) => `  - ${text}`),
  ]);
  expect(linesOf([findings[0]], [])).not.toContain('Settings that follow:');
  expect(reportOf(findings, ['why not'], { at: NOW, version: '1', host: 'api.test' }).split('\n')).toEqual([
    '# api.test and its interface description',
    '',
    'Seen on 2026-11-20T10:00:00.000Z by PV Onboarding 1.',
    '',
    '| check | level | the interface says | we saw | what it means for us |',
    '| --- | --- | --- | --- | --- |',
    `| limits | differs | a\\|b | ${findings[1].saw} | Ask. |`,
    '| clock | fails |   | d |   |',
    '',
    '1 further checks fit.',
    '',
    '## Questions that stay open',
    '',
    '- why not',
    ...NEVER_ASKED.map((text) => `- ${text}`),
    '',
  ]);
  expect(wrap('a bcd ef', 4)).toEqual(['a', 'bcd', 'ef']);
});
