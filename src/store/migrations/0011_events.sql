-- Up Migration

-- What customers are told of: a status change of an outbound message, or an inbound message. Kept as long as its message,
-- whether or not there is a URL to push it to.
create table events (
  plan_id integer not null,
  msg_id uuid not null,
  seq smallint not null,
  position bigint not null,
  status message_status,
  error_code text not null default '000',
  mccmnc text,
  price numeric(14, 6),
  ptf numeric(14, 6),
  currency text,
  sent_at timestamptz,
  occurred_at timestamptz not null,
  delivered_at timestamptz,
  attempts smallint,
  latency_ms integer,
  response_status smallint,
  response_head text,
  destination text
) partition by range (msg_id);
create index events_feed on events (plan_id, position, msg_id, seq);
-- After the other index: on an empty partition both cost the same to the planner, and it takes the newer one.
alter table events add primary key (plan_id, msg_id, seq);
comment on column events.seq is '0 for an inbound message; 1, 2, … for the status changes of an outbound one';
comment on column events.position is 'place in the plan''s feed: feed_base and the id of the transaction that wrote it';
comment on column events.delivered_at is 'when it was answered 2xx; this and the following tell of that attempt';

-- Raised when a database was restored into a younger cluster, whose transaction ids are lower.
create table feed_base (
  singleton boolean primary key default true check (singleton),
  base bigint not null
);
insert into feed_base (base) values (0);

-- Events still to be pushed to their URL, or given up.
create type delivery_state as enum ('waiting', 'parked', 'failed');

create table event_deliveries (
  plan_id integer not null,
  msg_id uuid not null,
  seq smallint not null,
  bucket smallint not null,
  attempt smallint not null default 0,
  earlier_attempts smallint not null default 0,
  holder integer,
  due_at timestamptz not null,
  began_at timestamptz not null,
  state delivery_state not null default 'waiting',
  destination text,
  primary key (plan_id, msg_id, seq)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
        autovacuum_vacuum_insert_threshold = -1, autovacuum_vacuum_cost_delay = 0);
create index event_deliveries_waiting on event_deliveries (due_at) where holder is null;
create index event_deliveries_waiting_of_plan on event_deliveries (plan_id, due_at)
  where holder is null and due_at < 'infinity';
create index event_deliveries_of_destination on event_deliveries (plan_id, destination, state, due_at)
  where destination is not null;
comment on column event_deliveries.holder is 'node that has it in memory; null: waiting for due_at';
comment on column event_deliveries.attempt is 'attempts of the schedule that have failed';
comment on column event_deliveries.earlier_attempts is 'attempts made before its schedule began anew';
comment on column event_deliveries.began_at is 'when its schedule began';
comment on column event_deliveries.state is
  'waiting: for due_at; parked: until its destination takes it, or due_at; failed: until somebody has it redelivered';
comment on column event_deliveries.destination is 'scheme, host and port; null until an attempt has failed or it was parked';

-- Destinations in trouble; all others have no row.
create table webhook_destinations (
  plan_id integer not null references service_plans (id) on delete cascade,
  destination text not null,
  state text not null check (state in ('open', 'paused', 'recovering')),
  since timestamptz not null default now(),
  error text,
  probe_at timestamptz,
  paused_by text check (paused_by in ('customer', 'operator')),
  primary key (plan_id, destination)
);
comment on column webhook_destinations.state is
  'open: only a probe a minute is sent; paused: nothing is; recovering: what was parked is being delivered';

do $$
declare day record;
begin
  for day in
    select replace(c.relname, 'messages_', 'events_') as name, pg_get_expr(c.relpartbound, c.oid) as bounds
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'messages'::regclass
  loop
    execute format('create table %I partition of events %s with (fillfactor = 50)', day.name, day.bounds);
  end loop;
end $$;

insert into events (plan_id, msg_id, seq, position, status, error_code, mccmnc, price, ptf, currency, sent_at, occurred_at)
select plan_id, msg_id, seq, pg_current_xact_id()::text::bigint, status, error_code, mccmnc, price, ptf, currency, sent_at,
       occurred_at
from webhook_events;
insert into event_deliveries (plan_id, msg_id, seq, bucket, attempt, holder, due_at, began_at, state)
select plan_id, msg_id, seq, bucket, attempt, holder, due_at, occurred_at,
       case when due_at = 'infinity' then 'failed' else 'waiting' end::delivery_state
from webhook_events;
drop table webhook_events;

-- Down Migration
-- None: an older Aldis runs on a newer schema only where a release says so.
