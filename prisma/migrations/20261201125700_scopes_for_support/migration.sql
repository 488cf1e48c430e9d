-- Three scopes are divided off: `links:read` from `onboarding:write`, `registrations:decide` and `users:erase` from `users:write`.
-- A replica of the previous release ignores them: it compares a key's scopes with the one that a route needs.
ALTER TABLE "api_keys" DROP CONSTRAINT "api_keys_scopes_are_known";
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_scopes_are_known" CHECK ("scopes" IS NOT NULL AND "scopes" <@ ARRAY[
  'users:read', 'users:write', 'users:erase', 'registrations:decide', 'onboarding:read', 'onboarding:write', 'links:read',
  'events:read', 'webhooks:manage', 'admin']);

-- Existing keys keep what they could do. A revoked key keeps its scopes as they were, since it is history.
UPDATE "api_keys" SET "scopes" = "scopes"
    || CASE WHEN 'users:write' = ANY ("scopes") THEN ARRAY['users:erase', 'registrations:decide'] ELSE '{}' END
    || CASE WHEN 'onboarding:write' = ANY ("scopes") THEN ARRAY['links:read'] ELSE '{}' END
  WHERE "revoked_at" IS NULL AND "scopes" && ARRAY['users:write', 'onboarding:write'];
