-- The words of a cause are those of the catalogue, written by the start of the service (stall_causes).
CREATE OR REPLACE VIEW admin.stalled AS
SELECT x.kind,
       x.subject AS id,
       x.tenant_reference,
       x.user_id,
       x.grid_location_id,
       g.ean,
       x.brand,
       x.campaign_id,
       x.cause,
       c.meaning,
       c.waits_for,
       c.urgency,
       c.before,
       c.remedies,
       x.since,
       x.evidence,
       x.raised_at,
       x.note,
       x.assignee,
       x.snoozed_until
  FROM public.stalls x
  LEFT JOIN public.stall_causes c ON c.kind = x.kind AND c.cause = x.cause
  LEFT JOIN public.grid_locations g ON g.id = x.grid_location_id;
COMMENT ON VIEW admin.stalled IS 'Everything that does not continue by itself, one row each, with its cause and what can be done. GET /api/v1/stalled lists the same.';
COMMENT ON COLUMN admin.stalled.id IS 'Id of the registration, start, session, invitation, inverter or endpoint.';
