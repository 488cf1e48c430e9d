import { readFile } from 'node:fs/promises';
import { dump } from 'js-yaml';
import { format, resolveConfig } from 'prettier';
import { REASONS } from '../src/status/reasons.js';
import type { Reason } from '../src/status/reasons/reason.js';

const ALERTS = 'ops/prometheus/alerts.yml';

const HEAD = `# Written by \`npm run alerts\` from alerts.template.yml and src/status/reasons.ts: change those. Every \`runbook_url\` is a path in this
# repository; docs/metrics.md says how to make it a link.
`;

const ACTORS: Record<Reason['waitsFor'], string> = {
  us: 'The operator of the service has to act.',
  tenant: 'The apps or people of the tenant have to act.',
  remote_service: 'The provider of the remote service has to act.',
};

/** Returns the name of the alert of a reason: DiskFull of disk_full. */
export const alertOf = (code: string): string =>
  code.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());

/** Returns the rule for Prometheus. `max`: every process exposes the reasons, and some are only seen by one. */
function ruleOf(code: string, { severity, title, runbook, waitsFor, alertAfter, alertKeeps }: Reason) {
  const metric = `pv_onboarding_deployment_reason{code="${code}"}`;
  const value = alertKeeps === undefined ? metric : `max_over_time(${metric}[${alertKeeps}])`;
  return {
    alert: alertOf(code),
    expr: `max by (code) (${value}) == 1`,
    ...(alertAfter !== undefined && { for: alertAfter }),
    labels: { severity },
    annotations: {
      summary: title,
      description: `${ACTORS[waitsFor]} The reason ${code} of GET /api/v1/status says more.`,
      runbook_url: `docs/operations.md#${runbook}`,
    },
  };
}

/** Returns the text of alerts.yml: the rules of the template, and one for each reason. */
export async function alertsFile(): Promise<Record<string, string>> {
  const template = await readFile(new URL('../ops/prometheus/alerts.template.yml', import.meta.url), 'utf8');
  const rules = Object.entries(REASONS).map(([code, reason]) => ruleOf(code, reason));
  const written = dump([{ name: 'pv-onboarding-reasons', rules }], { lineWidth: -1 });
  const text = `${HEAD}${template.slice(template.indexOf('groups:'))}${written.replace(/^/gm, '  ')}`;
  const config = await resolveConfig(ALERTS);
  return { [ALERTS]: await format(text, { ...config, parser: 'yaml' }) };
}
