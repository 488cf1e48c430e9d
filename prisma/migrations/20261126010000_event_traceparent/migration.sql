-- The trace in which the event was appended, for the attempts that other processes make later. Nullable, so the table is not rewritten.
ALTER TABLE domain_events ADD COLUMN traceparent text;

COMMENT ON COLUMN domain_events.traceparent IS 'The span that appended the event (W3C Trace Context); null if traces were not exported';
