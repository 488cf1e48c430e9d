COMMENT ON COLUMN session_polls.due_at IS
  'When it is to be read next. If more is due than may be read, src/onboarding/rules/lanes.rules.ts says which goes first. Written at the claim, for the read after it.';
