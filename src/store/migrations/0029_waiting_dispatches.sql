-- Up Migration

-- A message that is being submitted is in progress in the lane of its node: every row here waits. Those of nodes that ran
-- until now had been taken by them; what had begun is in doubt.
update dispatches
set ambiguous = true, due_at = case when holder is null then due_at else now() + interval '120 s' end
where holder is not null and begun or holder is null and released_from is not null;

drop index dispatches_waiting, dispatches_expiring, dispatches_handed;
alter table dispatches drop column holder, drop column released_from, drop column begun;
create index dispatches_waiting on dispatches (plan_id, route_id, chosen_carrier_id, due_at);
create index dispatches_expiring on dispatches (expires_at);
create index dispatches_handed on dispatches (chosen_carrier_id, due_at) where chosen_carrier_id <> 0;

-- Down Migration
-- None: an older Aldis runs on a newer schema only where a release says so.
