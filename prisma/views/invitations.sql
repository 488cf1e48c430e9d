CREATE OR REPLACE VIEW admin.invitations AS
SELECT i.id AS invitation_id,
       u.tenant_reference,
       u.id AS user_id,
       i.grid_location_id,
       g.ean,
       public.invitation_state(i) AS state,
       i.brands,
       i.locale,
       i.expected_inverters,
       i.campaign_id,
       i.wish_due_at,
       i.wish_failed_at,
       i.created_at,
       i.opened_at,
       i.started_at,
       i.owner_done_at,
       i.online_at,
       i.expires_at,
       i.expired_at,
       i.revoked_at,
       i.erased_at,
       i.declined_at,
       i.decline_reason,
       i.renewal_requested_at,
       i.reminders_sent,
       i.reminded_at,
       i.reminder_due_at,
       i.sent_at,
       i.bounced_at,
       i.bounced_channel,
       i.disconnected_at
  FROM public.invitations i
  JOIN public.grid_locations g ON g.id = i.grid_location_id
  JOIN public.users u ON u.id = g.user_id;
COMMENT ON VIEW admin.invitations IS 'Links for owners, one row each, without their tokens, with the steps that each owner has reached.';
COMMENT ON COLUMN admin.invitations.invitation_id IS 'Id of the invitation.';
COMMENT ON COLUMN admin.invitations.state IS 'invited, opened (by a person), started (a session exists), owner_done (inferred), online (with each of the brands), expired, declined, revoked or erased.';
