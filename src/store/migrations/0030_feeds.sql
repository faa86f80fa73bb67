-- Up Migration

-- A plan's events are numbered as they are written, under its row here: none appears behind a later one.
create table feeds (
  plan_id integer primary key,
  position bigint not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000,
        autovacuum_vacuum_cost_delay = 0);
comment on column feeds.position is 'of the last event of the plan; a plan without one has no row';

insert into feeds (plan_id, position)
select p.id, newest.position
from service_plans p
cross join lateral (select position from events where plan_id = p.id order by position desc limit 1) newest;

drop table feed_base;
comment on column events.position is 'place in the plan''s feed, drawn from feeds; of one transaction, msg_id and seq order them';

-- Down Migration
-- None: an older Aldis runs on a newer schema only where a release says so.
