CREATE OR REPLACE VIEW admin.session_transitions AS
SELECT t.id AS transition_id,
       t.session_id,
       u.tenant_reference,
       s.brand,
       t.at,
       t.from_state,
       t.to_state,
       t.basis,
       t.rule,
       t.observation_id,
       (SELECT n.at FROM public.session_transitions n WHERE n.session_id = t.session_id AND n.id > t.id ORDER BY n.id LIMIT 1) AS left_at
  FROM public.session_transitions t
  LEFT JOIN public.onboarding_sessions s ON s.id = t.session_id
  LEFT JOIN public.users u ON u.id = s.user_id;
COMMENT ON VIEW admin.session_transitions IS 'Every state that a session entered, with the rule that decided and when it left the state, one row each.';
COMMENT ON COLUMN admin.session_transitions.transition_id IS 'Order of recording.';
COMMENT ON COLUMN admin.session_transitions.left_at IS 'When it left that state. Null while it is in it.';
