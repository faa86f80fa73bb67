-- Up Migration

-- What carriers sent, for the operator. The one receipt of a message of one segment stands in the event that it caused, a
-- row that is written anyway; every other one has a row of its own.
alter table events add column receipt json;
comment on column events.receipt is 'the receipt that caused it, of a message of one segment: text and TLVs';
alter table parked_receipts add column receipt json;

create table receipts (
  msg_id uuid not null,
  carrier_message_id text not null,
  received_at timestamptz not null,
  carrier_id integer not null,
  outcome message_status not null,
  error_code text not null,
  receipt json,
  primary key (msg_id, carrier_message_id, received_at, outcome)
) partition by range (msg_id);
comment on table receipts is 'receipts, but for those that stand in an event: of several segments, intermediate, repeated, late';
comment on column receipts.outcome is 'what it was read as; SENT: an intermediate one, which changes nothing';

do $$
declare day record;
begin
  for day in
    select replace(c.relname, 'messages_', 'receipts_') as name, pg_get_expr(c.relpartbound, c.oid) as bounds
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'messages'::regclass
  loop
    execute format('create table %I partition of receipts %s', day.name, day.bounds);
  end loop;
end $$;

-- Down Migration
-- None: an older Aldis runs on a newer schema only where a release says so.
