import type { Environment } from '../env/environment.js';

/** What is shown after a local start: where it is, the key, and three lines to paste. */
export function tourOf(url: string, environment: Environment): string {
  const api = `${url}/api/v1`;
  const read = (what: string) => `node -pe 'JSON.parse(fs.readFileSync(0)).${what}'`;
  const call = `curl -s -H "Authorization: Bearer $KEY"`;
  const json = `-H 'Content-Type: application/json'`;
  return `
  PV Onboarding       ${url}   (API description: ${url}/docs)
  Administrator key   ${environment.ADMIN_API_KEY}
  Remote service      ${environment.SCS_BASE_URL}

  A tour to paste: register a user, start a session (open the startUrl that it prints and complete the web flow), read the events.

  KEY=${environment.ADMIN_API_KEY}; LOCATION=$(${call} ${json} -d '{"tenantReference":"tour-1","gridLocations":[{"ean":"871685900000000014"}]}' ${api}/users | ${read('gridLocations[0].id')})
  ${call} ${json} -d '{}' ${api}/onboarding/pv/$LOCATION | ${read('startUrl')}
  ${call} ${api}/events
`;
}
