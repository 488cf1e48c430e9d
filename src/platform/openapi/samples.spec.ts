import { expect, it } from '@jest/globals';
import { referenceOf } from './reference.rules.js';

const secured = { security: [{}] };
const at = [
  { name: 'id', in: 'path', required: true, example: 'a/b' },
  { name: 'limit', in: 'query', example: '1' },
  { name: 'at', in: 'query', required: true, example: '1+2' },
  { name: 'of', in: 'query', required: true },
];
const example = {
  text: `O'Brien "x"`,
  'a-b': [1, true, null],
  empty: {},
  nested: { none: [], '1a': false },
};
const withBody = (type: string, media: object) => ({ requestBody: { content: { [type]: media } } });
const document = {
  paths: {
    '/users/{id}': {
      get: { ...secured, description: 'Text.', 'x-required-scope': 'users:read', parameters: at },
      patch: {
        ...secured,
        ...withBody('application/json', { example }),
        'x-required-scope': 'users:write | admin users:read',
        'x-scope-of': { email: 'personal:read', phone: 'personal:read' },
      },
    },
    '/campaigns': { post: { ...secured, ...withBody('text/csv', {}) } },
    '/health': { get: {} },
  },
};
const CLIENT = `import { createClient } from '@pv-onboarding/client';

const { PV_URL = '', PV_KEY = '' } = process.env;
const client = createClient({ baseUrl: PV_URL, apiKey: PV_KEY });
const { data } = await client.`;
const PYTHON = `urllib.request

request = urllib.request.Request(
    os.environ["PV_URL"] + `;
const PYTHON_END = `
)
with urllib.request.urlopen(request) as response:
    print(response.status, response.read().decode())
`;
const HEADER = `"Authorization": f"Bearer {os.environ['PV_KEY']}"`;

it.each([
  [
    'get /users/{id}',
    '**Scope:** `users:read`\n\nText.',
    `curl "$PV_URL/users/a%2Fb?at=1%2B2&of=of" \\\n  -H "Authorization: Bearer $PV_KEY"`,
    `${CLIENT}GET('/users/{id}', {
  params: {
    path: {
      id: "a/b"
    },
    query: {
      at: "1+2",
      of: "of"
    }
  }
});
console.log(data);
`,
    `import os, ${PYTHON}"/users/a%2Fb?at=1%2B2&of=of",
    method="GET",
    headers={${HEADER}},${PYTHON_END}`,
  ],
  [
    'patch /users/{id}',
    '**Scope:** `users:write` or `admin` and `users:read`. What the response has follows from it: email: `personal:read`, phone: `personal:read`\n\n',
    `curl -X PATCH "$PV_URL/users/id" \\
  -H "Authorization: Bearer $PV_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '${JSON.stringify(example, null, 2).replace("'", `'\\''`)}'`,
    `${CLIENT}PATCH('/users/{id}', {
  body: {
    text: "O'Brien \\"x\\"",
    "a-b": [
      1,
      true,
      null
    ],
    empty: {},
    nested: {
      none: [],
      "1a": false
    }
  }
});
console.log(data);
`,
    `import json, os, ${PYTHON}"/users/id",
    method="PATCH",
    headers={${HEADER}, "Content-Type": "application/json"},
    data=json.dumps({
        "text": "O'Brien \\"x\\"",
        "a-b": [
            1,
            True,
            None
        ],
        "empty": {},
        "nested": {
            "none": [],
            "1a": False
        }
    }).encode(),${PYTHON_END}`,
  ],
  [
    'post /campaigns',
    '**Needs no key.**\n\n',
    `curl -X POST "$PV_URL/campaigns" \\
  -H "Authorization: Bearer $PV_KEY" \\
  -H 'Content-Type: text/csv' \\
  --data-binary @customers.csv`,
    `import { readFile } from 'node:fs/promises';

const response = await fetch(\`\${process.env.PV_URL}/campaigns\`, {
  method: 'POST',
  headers: { authorization: \`Bearer \${process.env.PV_KEY}\`, 'content-type': 'text/csv' },
  body: await readFile('customers.csv'),
});
console.log(response.status, await response.text());
`,
    `import os, ${PYTHON}"/campaigns",
    method="POST",
    headers={${HEADER}, "Content-Type": "text/csv"},
    data=open("customers.csv", "rb").read(),${PYTHON_END}`,
  ],
  [
    'get /health',
    '**Needs no key.**\n\n',
    'curl "$PV_URL/health"',
    'const response = await fetch(`${process.env.PV_URL}/health`);\nconsole.log(response.status, await response.text());\n',
    `import os, ${PYTHON}"/health",
    method="GET",${PYTHON_END}`,
  ],
])('%s is described with its scope and its samples', (name, description, ...sources) => {
  const [method = '', path = ''] = name.split(' ');
  const paths = referenceOf(document).paths as Record<string, Record<string, object>>;
  expect(paths[path]![method]).toMatchObject({
    description,
    'x-codeSamples': ['shell', 'typescript', 'python'].map((lang, index) => ({
      lang,
      source: sources[index],
    })),
  });
});
