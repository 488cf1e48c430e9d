import { spawnSync } from 'node:child_process';
import { NOT_POSSIBLE } from '../check.mjs';

const npm = process.env.npm_execpath ?? '';
const audit = [
  'audit',
  '--omit=dev',
  '--audit-level=high',
  '--json',
  '--fetch-retries=0',
  '--fetch-timeout=20000',
];
// npm sets npm_execpath to its own path. If npm did not start this script, runs the `npm` on the PATH.
const [command, ...args] = /[\\/]npm-cli\.c?js$/.test(npm)
  ? [process.execPath, npm, ...audit]
  : ['npm', ...audit];
const { status, stdout } = spawnSync(command, args, {
  encoding: 'utf8',
  shell: process.platform === 'win32',
});

const report = parse(stdout ?? '');
if (report?.vulnerabilities === undefined) {
  const reason = report?.message ?? report?.error?.summary ?? 'npm audit gave no report';
  console.log(
    `NOT DONE: the registry did not say whether a dependency has a known vulnerability (${reason}).`,
  );
  process.exitCode = NOT_POSSIBLE;
} else {
  for (const { name, severity, range, fixAvailable } of Object.values(report.vulnerabilities)) {
    console.log(`${severity}: ${name} ${range}${fixAvailable ? ', a fix is available' : ''}`);
  }
  process.exitCode = status ?? 1;
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
