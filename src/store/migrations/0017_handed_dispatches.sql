-- Up Migration

-- Binds are spread over the nodes: each node must know what the others can do, and hand over what only they can send.
alter table nodes add column carriers jsonb not null default '{}';
comment on column nodes.carriers is 'condition of each carrier that its own sessions can submit to, by carrier id';

alter table dispatches add column chosen_carrier_id integer not null default 0;
comment on column dispatches.chosen_carrier_id is
  'carrier that was chosen for it: a node with sessions to it takes it up; 0: whichever node it falls to';
drop index dispatches_waiting;
create index dispatches_waiting on dispatches (plan_id, route_id, chosen_carrier_id, due_at) where holder is null;
create index dispatches_handed on dispatches (chosen_carrier_id, due_at)
  where holder is null and chosen_carrier_id <> 0;

-- Down Migration
-- None: an older Aldis runs on a newer schema only where a release says so.
