CREATE OR REPLACE VIEW admin.funnel AS
SELECT (i.created_at AT TIME ZONE 'UTC')::date AS day,
       count(*) AS invited,
       count(i.sent_at) AS sent,
       count(i.opened_at) AS opened,
       count(i.started_at) AS started,
       count(i.owner_done_at) AS owner_done,
       count(i.online_at) AS online,
       count(*) FILTER (WHERE public.invitation_state(i) = 'expired') AS expired,
       count(*) FILTER (WHERE public.invitation_state(i) = 'declined') AS declined,
       percentile_disc(0.5) WITHIN GROUP (ORDER BY i.online_at - i.created_at) FILTER (WHERE i.owner_done_at > i.created_at) AS median_to_online,
       percentile_disc(0.95) WITHIN GROUP (ORDER BY i.online_at - i.created_at) FILTER (WHERE i.owner_done_at > i.created_at) AS p95_to_online
  FROM public.invitations i
 GROUP BY 1;
COMMENT ON VIEW admin.funnel IS 'Invitations by the day of their creation (UTC) and the steps that they reached, whenever that was. Each invitation counts once.';
COMMENT ON COLUMN admin.funnel.day IS 'Day of the invitations, in UTC.';
COMMENT ON COLUMN admin.funnel.invited IS 'Invitations created on this day.';
COMMENT ON COLUMN admin.funnel.sent IS 'Of these, sent to the owner, as the mailer has said.';
COMMENT ON COLUMN admin.funnel.opened IS 'Of these, opened by a person.';
COMMENT ON COLUMN admin.funnel.started IS 'Of these, whose owner began the web flow.';
COMMENT ON COLUMN admin.funnel.owner_done IS 'Of these, whose owner had probably completed it.';
COMMENT ON COLUMN admin.funnel.online IS 'Of these, online with each of their brands.';
COMMENT ON COLUMN admin.funnel.expired IS 'Of these, expired before the owner was done.';
COMMENT ON COLUMN admin.funnel.declined IS 'Of these, declined by the owner.';
COMMENT ON COLUMN admin.funnel.median_to_online IS 'Median time from the invitation to online, without owners who were done before it. Null without any.';
COMMENT ON COLUMN admin.funnel.p95_to_online IS 'The time within which 95 % of these came online. Null without any.';
