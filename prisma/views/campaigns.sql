CREATE OR REPLACE VIEW admin.campaigns AS
SELECT c.id AS campaign_id,
       c.name,
       c.status,
       c.status = 'checked' AS dry_run,
       c.invites,
       c.adopts,
       c.rows,
       r.accepted,
       r.invalid,
       r.registered,
       r.known,
       r.rejected,
       r.uncertain,
       r.cancelled,
       c.created_at,
       c.paused_at,
       c.finished_at
  FROM public.campaigns c
 CROSS JOIN LATERAL (
   SELECT count(*) FILTER (WHERE status IN ('accepted', 'sent')) AS accepted,
          count(*) FILTER (WHERE status = 'invalid') AS invalid,
          count(*) FILTER (WHERE status = 'registered') AS registered,
          count(*) FILTER (WHERE status = 'known') AS known,
          count(*) FILTER (WHERE status = 'rejected') AS rejected,
          count(*) FILTER (WHERE status = 'uncertain') AS uncertain,
          count(*) FILTER (WHERE status = 'cancelled') AS cancelled
     FROM public.campaign_rows WHERE campaign_id = c.id
 ) AS r
 WHERE c.status <> 'receiving';
COMMENT ON VIEW admin.campaigns IS 'Campaigns and dry runs, one row each, with the number of their rows in each status. Without files that are being uploaded.';
COMMENT ON COLUMN admin.campaigns.campaign_id IS 'Our id of the campaign.';
COMMENT ON COLUMN admin.campaigns.dry_run IS 'Whether the file was only checked: then accepted rows could be registered, and known ones are registered.';
COMMENT ON COLUMN admin.campaigns.accepted IS 'Rows that are not sent yet, or are being sent.';
COMMENT ON COLUMN admin.campaigns.invalid IS 'Rows that cannot be registered as they are.';
COMMENT ON COLUMN admin.campaigns.registered IS 'Rows whose user this campaign has registered or, with adopts, stored.';
COMMENT ON COLUMN admin.campaigns.known IS 'Rows whose user was already registered with the same EANs.';
COMMENT ON COLUMN admin.campaigns.rejected IS 'Rows that the remote service refused, or that a person gave up.';
COMMENT ON COLUMN admin.campaigns.uncertain IS 'Rows of which nobody knows whether they were registered.';
COMMENT ON COLUMN admin.campaigns.cancelled IS 'Rows that were not sent, because the campaign was cancelled or the person erased.';
