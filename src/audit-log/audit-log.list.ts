import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsOptional, Length } from 'class-validator';
import { ReadText } from '../platform/http/validation.js';
import * as by from '../platform/list/filters.js';
import { List } from '../platform/list/list.js';
import { count, instant, nullable, object, resourceOf, text } from '../platform/openapi/schema-of.js';

const MOST_TARGETS = 100;

const Targets = applyDecorators(
  ApiPropertyOptional({
    description: `Only what was done to these: at most ${MOST_TARGETS} ids, separated by commas. Default: everything`,
    type: String,
  }),
  ReadText((ids) => ids.split(',').map((id) => id.trim())),
  IsOptional(),
  Length(1, 100, { each: true }),
  ArrayMaxSize(MOST_TARGETS),
  IsArray(),
);

export const AUDIT_LOG = new List({
  name: 'audit-log',
  select:
    'SELECT entry_id::float8 AS id, at, actor, key_name AS "keyName", action, target, details FROM admin.audit_log',
  order: { at: ['at', 'instant'], id: ['entry_id', 'integer'] },
  descending: true,
  filters: {
    targets: by.parameter<string[]>(Targets, 'target = ANY (?)'),
    actor: by.text((actor) => [['actor IN (?, ?)', actor, `console:${actor}`]], {
      description:
        'Only what this actor did, with requests or in the console, such as `key:` and the id of a key',
    }),
    action: by.text('action = ?', { description: 'Only this action, such as `user.erased`' }),
    since: by.since('at', 'Only at or after this instant'),
    before: by.before('at', 'Only before this instant'),
  },
});

export class AuditLogQuery extends AUDIT_LOG.Query {}

// Omits the request id: callers choose it, so it may contain a name.
export class AuditEntryView extends resourceOf('audit_entry', {
  id: count('Order of recording'),
  at: instant(),
  actor: text('What did it, such as `key:` and the id of a key; after `console:`, a session of the console'),
  keyName: nullable(text('null if it was not a key of the list of keys')),
  action: text('An object and a past participle, such as `registration.resolved`'),
  target: nullable(text('Id of what it was done to')),
  details: object('Without secrets or personal data'),
}) {}
