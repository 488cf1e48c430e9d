import type { Environment } from '../platform/env/environment.js';

interface Tour {
  /** Address of the service, without a trailing slash. */
  readonly url: string;
  readonly environment: Pick<Environment, 'ADMIN_API_KEY' | 'CONSOLE' | 'DOCS' | 'SCS_BASE_URL'>;
  /** Whether the remote service is the sandbox that we started. If so, the example registers an invented user. */
  readonly withSandbox: boolean;
}

/** Returns the text shown after a local start if the operator configured ADMIN_API_KEY. */
export const addressesOf = (tour: Tour): string => `
  ${serviceLine(tour)}${consoleLine(tour)}
  ${remoteLine(tour)}
`;

/** Returns the text shown after a local start with a generated key: address, key, and three lines of curl and Node for bash or zsh. */
export function tourOf(tour: Tour): string {
  const { url, environment, withSandbox } = tour;
  const { ADMIN_API_KEY, SCS_BASE_URL } = environment;
  const curl = `curl -s -H "Authorization: Bearer $KEY"`;
  const body = `-H 'Content-Type: application/json' -d`;
  const user = withSandbox
    ? '{"tenantReference":"tour-1","gridLocations":[{"ean":"871685900000000011"}]}'
    : '{"tenantReference":"<your reference>","gridLocations":[{"ean":"<18 digits>"}]}';
  const print = (script: string) =>
    `node -e 'a = JSON.parse(fs.readFileSync(0)); if (a.code) throw a.detail; ${script}'`;
  // Exits with 1 when the session is online, which ends the loop of the shell.
  const showState =
    'console.log(a.state, ...a.inverters.map((i) => i.id)); process.exitCode = +(a.state === "online")';
  return `
  ${serviceLine(tour)}
  Administrator key   ${ADMIN_API_KEY}${consoleLine(tour)}
  ${remoteLine(tour)}
  Command line        npm run cli -- status   (docs/command-line.md; \`cli -- psql\` opens the database)

  Register a user, start a session, watch it until it is online:

  KEY=${ADMIN_API_KEY}; API=${url}/api/v1; LOCATION=$(${curl} ${body} '${user}' $API/users | ${print('console.log(a.gridLocations[0].id)')})
  SESSION=$(${curl} -X POST $API/onboarding/pv/$LOCATION | ${print('console.log(a.id); console.error(a.startUrl)')})
  while ${curl} "$API/onboarding/pv/$SESSION?maxAge=2&wait=3" | ${print(showState)}; do :; done

  The second line shows the link for the owner of the installation: open it and complete the web flow.
${withSandbox ? ownerOf(SCS_BASE_URL, body) : ''}`;
}

const ownerOf = (sandboxUrl: string, body: string): string => `\
  Or, before the third line, let the sandbox be the owner:

  curl -s -o /dev/null ${body} '{"brand":"sunward"}' ${sandboxUrl}/sandbox/sessions/$SESSION/complete
`;

const serviceLine = ({ url, environment: { DOCS } }: Tour): string =>
  `PV Onboarding       ${url}   (${DOCS ? `guides: ${url}/docs, API: ${url}/docs/api` : `API: ${url}/openapi.json`})`;

const consoleLine = ({ url, environment: { CONSOLE } }: Tour): string =>
  CONSOLE ? `\n  Console             ${url}/console   (sign in with the key)` : '';

const remoteLine = ({ environment, withSandbox }: Tour): string =>
  `Remote service      ${environment.SCS_BASE_URL}${withSandbox ? '   (the sandbox: a page to play with)' : ''}`;
