/** The failures of a sign-in at the identity provider, with the texts for its user. */
export const NOTICES = {
  unavailable: {
    status: 502,
    title: 'The identity provider cannot be reached',
    text: 'Try again in a minute. The log of the service has the reason.',
  },
  expired: {
    status: 400,
    title: 'This sign-in is over',
    text: 'It took longer than 10 minutes, or began in another browser.',
  },
  failed: {
    status: 400,
    title: 'The sign-in did not succeed',
    text: 'The identity provider refused it, or its response does not belong to it. The log of the service has the reason.',
  },
  tooMany: {
    status: 429,
    title: 'Too many sign-ins from your network',
    text: 'Wait a minute, and sign in again.',
  },
  groupsLeftOut: {
    status: 403,
    title: 'The identity provider left out your groups',
    text: 'You are signed in, but you are in too many groups for its response. Ask the operator of this service to have it send only the groups that are assigned to this application, or application roles.',
  },
  noGroup: {
    status: 403,
    title: 'You have no access to this console',
    text: 'You are signed in, but none of your groups has access. Ask the operator of this service to add a group of yours to CONSOLE_OIDC_GROUPS.',
  },
} as const;

export type Notice = keyof typeof NOTICES;

export const noticePage = (notice: Notice): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width" />
    <meta name="color-scheme" content="light dark" />
    <title>${NOTICES[notice].title}</title>
  </head>
  <body>
    <main>
      <h1>${NOTICES[notice].title}</h1>
      <p>${NOTICES[notice].text}</p>
      <p><a href="../console">Open the console</a>, if you are signed in already, or <a href="sign-in">sign in again</a></p>
    </main>
  </body>
</html>
`;
