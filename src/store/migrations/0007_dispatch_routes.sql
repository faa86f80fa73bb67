-- Up Migration

-- What waits for carriers that are down is not read: with rules a plan's messages take several routes.
alter table dispatches add column route_id integer not null default 0;
comment on column dispatches.route_id is 'route it waits for; 0: to be found out';
drop index dispatches_waiting;
create index dispatches_waiting on dispatches (plan_id, route_id, due_at) where holder is null;

-- Down Migration
-- None: an older Aldis runs on a newer schema only where a release says so.
