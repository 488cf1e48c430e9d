import { describe, expect, it } from '@jest/globals';
import { spanNameOf } from './span-name.js';

describe('the span of a statement without a name', () => {
  it.each([
    [`SELECT "public"."users"."id" FROM "public"."users" WHERE "public"."users"."id" = $1`, 'SELECT users'],
    [`INSERT INTO "public"."audit_log" ("actor") VALUES ($1)`, 'INSERT audit_log'],
    [`\n  update users SET name = 'secret' WHERE id = 1`, 'UPDATE'],
    ['UPDATE remote_tokens SET lease_token = NULL', 'UPDATE remote_tokens'],
    ['SELECT extract(epoch FROM now() - renewed_at) FROM remote_tokens', 'SELECT remote_tokens'],
    ['SELECT 1', 'SELECT'],
    ['', 'SQL'],
  ])('%j has the name %j', (text, name) => expect(spanNameOf(text)).toBe(name));
});
