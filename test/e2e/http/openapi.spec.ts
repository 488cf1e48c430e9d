import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { OPENAPI_SCHEMAS } from '../../../scripts/asyncapi/schemas.js';
import { createDocument } from '../../../scripts/openapi/document.js';
import type { RecordedExamples } from '../../../scripts/openapi/operations.js';
import { TestClient, type UserAnswer } from '../../setup/client.js';
import { newEan } from '../../setup/ean.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';
import { callsOf, differences, recordExamples } from './examples.js';
import { withReplica } from '../replica.js';

const DOCUMENT = new URL('../../../openapi.json', import.meta.url);
const EXAMPLES = new URL('../../../docs/openapi/examples.json', import.meta.url);

interface Response {
  readonly headers?: object;
  readonly content?: Readonly<Record<string, { readonly schema: Schema; readonly example?: unknown }>>;
}

/** The limits of a schema, and by how much a value beyond each differs from it. */
const LIMITS = {
  minimum: -1,
  maximum: 1,
  minLength: -1,
  maxLength: 1,
  minItems: -1,
  maxItems: 1,
};
type LimitName = keyof typeof LIMITS;

interface Schema extends Readonly<Partial<Record<LimitName, number>>> {
  readonly $ref?: string;
  readonly enum?: readonly string[];
  readonly format?: string;
  readonly items?: Schema;
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema?: Schema }[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: Readonly<Record<string, { readonly schema: { readonly $ref?: string } }>>;
  };
  readonly responses: Readonly<Record<string, Response>>;
}

type Document = {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly responses: Readonly<Record<string, Response>>;
    readonly schemas: Readonly<Record<string, { properties?: object; additionalProperties?: unknown }>>;
  };
};

const operationsOf = ({ paths }: Document): Operation[] =>
  Object.values(paths).flatMap((methods) => Object.values(methods));

describe('the OpenAPI document', () => {
  let service: TestApp;
  let document: Document;
  let operations: Operation[];
  let examples: RecordedExamples;

  // UPDATE_EXAMPLES=1 writes the responses to docs/openapi/examples.json; `npm run openapi` then puts them into openapi.json.
  beforeAll(async () => {
    service = await startTestApp();
    if (process.env.UPDATE_EXAMPLES !== undefined) {
      const recorded = await recordExamples(
        service,
        callsOf(createDocument(service.app, {}, OPENAPI_SCHEMAS)),
      );
      await writeFile(EXAMPLES, `${JSON.stringify(recorded, null, 2)}\n`);
      await service.close();
      service = await startTestApp();
    }
    examples = JSON.parse(await readFile(EXAMPLES, 'utf8')) as RecordedExamples;
    document = createDocument(service.app, examples, OPENAPI_SCHEMAS) as unknown as Document;
    operations = operationsOf(document);
  });

  afterAll(() => service.close());

  it('matches the controllers; if not, run `npm run openapi`', async () => {
    const committed = JSON.parse(await readFile(DOCUMENT, 'utf8')) as unknown;
    expect(JSON.parse(JSON.stringify(document))).toEqual(committed);
  });

  it('is served as it is committed, with a page that needs no network', async () => {
    const served = await fetch(`${service.url}/openapi.json`);
    expect(await served.json()).toEqual(JSON.parse(await readFile(DOCUMENT, 'utf8')));
    expect((await fetch(`${service.url}/openapi%2Ejson`)).status).toBe(200);
    expect((await fetch(`${service.url}/`)).url).toBe(`${service.url}/docs`);
    expect((await fetch(`${service.url}/docs/`)).url).toBe(`${service.url}/docs`);
    for (const [path, policy] of [
      ['/docs', "default-src 'none'; script-src 'self'; style-src 'self';"],
      ['/docs/events', "default-src 'none'; script-src 'self'; style-src 'self';"],
      ['/docs/api', "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline';"],
    ] as const) {
      const page = await fetch(service.url + path);
      expect(page.headers.get('content-security-policy')).toContain(policy);
      const files = [...(await page.text()).matchAll(/<(?:script|link|img) [^>]*(?:src|href)="([^"]+)"/g)];
      expect(files.length).toBeGreaterThan(3);
      for (const [, file = ''] of files) {
        const { href } = new URL(file, page.url);
        expect(href).toContain(`${service.url}/docs/`);
        expect([href, (await fetch(href)).status]).toEqual([href, 200]);
      }
    }
    for (const missing of ['package.json', '../package.json', '%2e%2e/package.json', 'docs/x', '__proto__'])
      expect((await fetch(`${service.url}/docs/${missing}`)).status).toBe(404);
  });

  it('is not sent again to a caller that has it, like the guides', async () => {
    for (const path of ['/openapi.json', '/asyncapi.json', '/docs', '/docs/events', '/docs/guides.css']) {
      const { headers } = await fetch(service.url + path);
      expect(headers.get('cache-control')).toBe('no-cache');
      const etag = headers.get('etag')!;
      for (const known of [etag, etag.slice('W/'.length), `"other", ${etag}`, '*']) {
        const again = await fetch(service.url + path, { headers: { 'if-none-match': known } });
        expect([path, known, again.status]).toEqual([path, known, 304]);
        expect([again.headers.get('etag'), await again.text()]).toEqual([etag, '']);
      }
      const other = await fetch(service.url + path, { headers: { 'if-none-match': '"other"' } });
      expect([path, other.status]).toEqual([path, 200]);
    }
  });

  it('is served without its page if DOCS is false', async () => {
    await withReplica(service, { ROLE: 'api', DOCS: false }, async (other) => {
      for (const path of ['/', '/docs', '/docs/', '/docs/api', '/docs/events', '/docs/scalar.js']) {
        const response = await fetch(other.url + path);
        expect([path, response.status]).toEqual([path, 404]);
        expect(await response.json()).toMatchObject({ code: 'not_found' });
      }
      expect((await fetch(`${other.url}/openapi.json`)).status).toBe(200);
    });
  });

  it('is OpenAPI 3.1 with unique operation ids, a target for each reference, and no ambiguous paths', () => {
    expect(document.openapi).toBe('3.1.0');
    const ids = operations.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !/^[a-z]+[A-Za-z]*$/.test(id))).toEqual([]);
    const text = JSON.stringify(document);
    const targets = [...text.matchAll(/"#\/components\/(\w+)\/([\w-]+)"/g)];
    const missing = targets.filter(
      ([, kind, name]) => !(name! in document.components[kind as 'schemas' | 'responses']),
    );
    expect(missing).toEqual([]);
    expect(text).not.toContain('"nullable"');
    const shapes = Object.keys(document.paths).map((path) => path.replace(/\{\w+\}/g, '{}'));
    expect(new Set(shapes).size).toBe(shapes.length);
  });

  it('gives each resource the field `object`, the same word in a list and alone', () => {
    const named = (schema: Schema): readonly [string, Schema][] => {
      const name = schema.$ref?.split('/').at(-1) ?? '';
      const { properties = {}, oneOf = [] } =
        name === '' ? schema : (document.components.schemas[name] as Schema);
      const { items } = properties['items'] ?? {};
      if (oneOf.length > 0) return oneOf.flatMap(named);
      if (items !== undefined && properties['id'] === undefined) return named(items);
      return name === '' ? [] : [[name, properties['object'] ?? {}]];
    };
    const resources = operations.flatMap(({ responses }) =>
      Object.entries(responses)
        .filter(([status]) => status.startsWith('2'))
        .flatMap(([, { content = {} }]) => Object.values(content).flatMap(({ schema }) => named(schema)))
        .filter(([name]) => !name.startsWith('pv.')),
    );
    expect(Object.fromEntries(resources.map(([name, { enum: words }]) => [name, words?.join()]))).toEqual({
      RegisteredUserView: 'user',
      UserView: 'user',
      OpenRegistrationView: 'registration',
      RegistrationView: 'registration',
      DecisionResultView: 'registration_decision',
      SessionView: 'session',
      StartView: 'start',
      InverterView: 'inverter',
      InvitationView: 'invitation',
      BrandView: 'brand',
      CaseView: 'case',
      CustomerView: 'customer',
      ListedCustomerView: 'customer',
      HitView: 'search_hit',
      StalledItemView: 'stall',
      CampaignView: 'campaign',
      CampaignSummaryView: 'campaign',
      CampaignRowView: 'campaign_row',
      BulkActionView: 'bulk_action',
      CreatedWebhookEndpointView: 'webhook_endpoint',
      WebhookEndpointView: 'webhook_endpoint',
      WebhookDeliveryView: 'webhook_delivery',
      WebhookDeliveryDetailView: 'webhook_delivery',
      CreatedApiKeyView: 'api_key',
      ApiKeyView: 'api_key',
      AuditEntryView: 'audit_entry',
      ErasureReceiptView: 'erasure_receipt',
      UserExportView: 'user_export',
      TimelineEntryView: 'timeline_entry',
      InvitationLinkView: 'invitation_link',
      InvitationCodeView: 'invitation_code',
      FunnelView: 'funnel_row',
      StalledGroupView: 'stall_group',
      RotatedSecretView: 'webhook_secret',
      WebhookTestView: 'webhook_test',
      RedeliveryView: 'webhook_redelivery',
      StatusView: 'status',
      StatusHistoryView: 'status_history',
      CredentialsProbeView: 'credentials_probe',
      ProblemKindView: 'problem_kind',
      // Probes read only the status.
      LivenessView: undefined,
      ReadinessView: undefined,
    });
  });

  it('requires a body where the service does, and no property that has a default', async () => {
    const optional = operations.filter(({ requestBody }) => requestBody?.required === false);
    expect(optional.map(({ operationId }) => operationId).sort()).toEqual([
      'discardRegistration',
      'retryRegistration',
      'rotateWebhookSecret',
      'startSession',
    ]);
    const client = TestClient.of(service);
    const { body: user } = await client.call<UserAnswer>('POST', '/users', {
      tenantReference: 'no-body',
      gridLocations: [{ ean: '871687400000000017' }],
    });
    const endpoint = await client.call<UserAnswer>('POST', '/webhook-endpoints', {
      url: 'http://127.0.0.1:9/',
      types: ['user.erased'],
    });
    const paths = [
      `/onboarding/pv/${user.gridLocations[0]!.id}`,
      `/webhook-endpoints/${endpoint.body.id}/rotate-secret`,
      `/webhook-endpoints/${endpoint.body.id}/redeliver`,
    ];
    const responses = await Promise.all(paths.map((path) => client.call('POST', path)));
    expect(responses.map(({ status }) => status)).toEqual([201, 200, 400]);
    expect((await client.call('DELETE', `/webhook-endpoints/${endpoint.body.id}`)).status).toBe(204);

    // Generators such as openapi-typescript make a property with a default required.
    const names = operations.flatMap(({ requestBody }) =>
      Object.values(requestBody?.content ?? {}).flatMap(({ schema }) => schema.$ref?.split('/').at(-1) ?? []),
    );
    const defaults = names.filter((name) =>
      Object.values(document.components.schemas[name]?.properties ?? {}).some((each) => 'default' in each),
    );
    expect(defaults).toEqual([]);
  });

  it('has an example of every success of every operation', () => {
    const missing = operations
      .filter(({ operationId }) => operationId !== 'getMetrics')
      .flatMap(({ operationId, responses }) =>
        Object.keys(responses)
          .filter((status) => status.startsWith('2') && !(status in (examples[operationId]?.responses ?? {})))
          .map((status) => `${operationId} ${status}`),
      );
    expect(missing).toEqual([]);
  });

  it('has only examples that its schemas allow, without undeclared properties', () => {
    const schemas = Object.entries(document.components.schemas).map(([name, schema]) => [
      name,
      schema.properties && schema.additionalProperties === undefined
        ? { ...schema, additionalProperties: false }
        : schema,
    ]);
    const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
    ajv.addSchema({ $id: 'document', components: { schemas: Object.fromEntries(schemas) as object } });
    const faults = operations.flatMap(({ operationId, responses }) =>
      Object.entries(examples[operationId]?.responses ?? {}).flatMap(([status, example]) => {
        const content = Object.values(responses[status]?.content ?? {})[0];
        if (content === undefined)
          return responses[status] === undefined ? [`${operationId} ${status} is not documented`] : [];
        const schema = JSON.parse(JSON.stringify(content.schema).replaceAll('"#/', '"document#/')) as object;
        const validate = ajv.compile(schema);
        return validate(example) ? [] : [`${operationId} ${status}: ${ajv.errorsText(validate.errors)}`];
      }),
    );
    expect(faults).toEqual([]);
  });

  it('has the responses of a running service as examples, but for what varies from run to run', async () => {
    const live = await recordExamples(service, callsOf(document));
    const found = Object.entries(live).flatMap(([operationId, { responses }]) =>
      differences(examples[operationId]?.responses ?? {}, responses, operationId),
    );
    expect(found).toEqual([]);
  });

  // The last test, because it creates endpoints that receive nothing.
  it('states the limits of parameters and bodies that the service has', async () => {
    const client = TestClient.of(service);
    const resolve = ({ $ref, ...schema }: Schema): Schema =>
      $ref === undefined ? schema : (document.components.schemas[$ref.split('/').at(-1)!] as Schema);
    const elementOf = (schema: Schema, index: number): unknown => {
      const { enum: values, format, properties } = resolve(schema);
      if (properties !== undefined) return { ean: newEan() };
      return values?.[index % values.length] ?? (format === 'uuid' ? randomUUID() : `element ${index}`);
    };
    const valueOf = (name: LimitName, { items, format }: Schema, size: number): unknown => {
      if (name.endsWith('imum')) return size;
      if (items !== undefined) return Array.from({ length: size }, (_, index) => elementOf(items, index));
      return format === 'uri' ? 'https://app.example/'.padEnd(size, 'x') : 'x'.repeat(size);
    };
    /** Returns the fields of a schema, with the body that contains only this field. */
    const fieldsOf = (schema: Schema): [string, Schema, (value: unknown) => object][] =>
      Object.entries(resolve(schema).properties ?? {}).flatMap(([name, each]) => [
        [name, resolve(each), (value) => ({ [name]: value })],
        ...fieldsOf(each).map(([inner, its, bodyOf]): [string, Schema, (value: unknown) => object] => [
          `${name}.${inner}`,
          its,
          (value) => ({ [name]: bodyOf(value) }),
        ]),
      ]);
    const wrong: string[] = [];
    let count = 0;
    const check = async (
      call: string,
      field: string,
      schema: Schema,
      send: (value: unknown) => Promise<{ body: { errors?: readonly { field: string }[] } }>,
    ) => {
      for (const name of Object.keys(LIMITS) as LimitName[]) {
        const limit = schema[name];
        if (limit === undefined) continue;
        count += 1;
        const isRefused = async (size: number) =>
          (await send(valueOf(name, schema, size))).body.errors?.some((error) =>
            `${field}.`.startsWith(`${error.field}.`),
          ) ?? false;
        if (await isRefused(limit)) wrong.push(`${call}: ${field} is refused at its ${name} of ${limit}`);
        if (!(await isRefused(limit + LIMITS[name])))
          wrong.push(`${call}: ${field} is accepted beyond its ${name} of ${limit}`);
      }
    };
    for (const [path, methods] of Object.entries(document.paths))
      for (const [method, { parameters = [], requestBody }] of Object.entries(methods)) {
        const call = `${method.toUpperCase()} ${path}`;
        const address = path.replace('/api/v1', '').replace(/\{\w+\}/g, () => randomUUID());
        for (const { name, schema, in: place } of parameters)
          if (schema !== undefined && place === 'query')
            await check(call, name, schema, (value) =>
              client.call(method.toUpperCase(), `${address}?${name}=${String(value)}`),
            );
        const ofBody = requestBody?.content['application/json']?.schema;
        if (ofBody === undefined) continue;
        for (const [field, schema, bodyOf] of fieldsOf(ofBody))
          await check(call, field, schema, (value) =>
            client.call(method.toUpperCase(), address, bodyOf(value)),
          );
      }
    expect(wrong).toEqual([]);
    expect(count).toBeGreaterThan(50);
  });
});
