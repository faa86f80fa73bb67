-- Up Migration

-- Messages of one sender, country, network and status are of one kind. The lists of messages go by kinds (docs/adr/0021).
create function message_kind(sender text, country text, mccmnc text, status message_status) returns integer
  language sql immutable parallel safe
  return hashtext(sender || '/' || coalesce(country, '') || '/' || coalesce(mccmnc, '')) # hashenum(status);
create index messages_kind on messages (plan_id, message_kind(sender, country, mccmnc, status), msg_id);
-- Made again, to be the newest: on an empty partition all cost the same to the planner, and it takes that one.
alter table messages drop constraint messages_pkey, add primary key (plan_id, msg_id);

create function day_of_msg_id(msg_id uuid) returns integer
  language sql immutable parallel safe
  return (('x' || left(translate(msg_id::text, '-', ''), 12))::bit(48)::bigint / 86400000)::integer;
create function first_msg_id(day integer) returns uuid
  language sql immutable parallel safe
  return rpad(lpad(to_hex(day * 86400000::bigint), 12, '0'), 32, '0')::uuid;

-- Written before the message is, never waited for: two transactions may write the same row.
create table message_kinds (
  plan_id integer not null,
  day integer not null,
  sender text not null,
  country text not null,
  mccmnc text not null,
  status message_status not null
);
comment on table message_kinds is 'kinds that a plan''s messages of a day are, or were';
comment on column message_kinds.day is 'since 1970, of msg_id';
comment on column message_kinds.country is 'empty: none';
comment on column message_kinds.mccmnc is 'empty: none';

insert into message_kinds
select distinct plan_id, day_of_msg_id(msg_id), sender, coalesce(country, ''), coalesce(mccmnc, ''), status from messages;

-- A list reads the newest days first; what else it asks for is looked at in the index.
create index message_kinds_status on message_kinds (plan_id, status, day);
create index message_kinds_country on message_kinds (plan_id, country, day, status, mccmnc);
create index message_kinds_mccmnc on message_kinds (plan_id, mccmnc, day, status, country);
create index message_kinds_sender on message_kinds (plan_id, sender, day, country, mccmnc, status);
create index message_kinds_day on message_kinds (day);

create function note_message_kind() returns trigger language plpgsql as $$
declare
  new_day constant integer := day_of_msg_id(new.msg_id);
begin
  if not exists (
    select from message_kinds k
    where k.plan_id = new.plan_id and k.sender = new.sender and k.day = new_day
      and k.country = coalesce(new.country, '') and k.mccmnc = coalesce(new.mccmnc, '') and k.status = new.status
  ) then
    insert into message_kinds
    values (new.plan_id, new_day, new.sender, coalesce(new.country, ''), coalesce(new.mccmnc, ''), new.status);
  end if;
  return null;
end $$;

-- Who has noted the kinds of all it writes says so for its transaction: noted once for many, they cost next to nothing.
create trigger new_kind after insert on messages for each row
  when (current_setting('aldis.kinds_are_noted', true) is distinct from 'on')
  execute function note_message_kind();
create trigger other_kind after update on messages for each row
  when ((old.sender, old.country, old.mccmnc, old.status) is distinct from (new.sender, new.country, new.mccmnc, new.status)
    and current_setting('aldis.kinds_are_noted', true) is distinct from 'on')
  execute function note_message_kind();

-- Inbound messages are few enough for an index of each filter. The key is made again, to be the newest.
create index inbound_messages_recipient on inbound_messages (plan_id, recipient, msg_id);
create index inbound_messages_keyword on inbound_messages (plan_id, lower(keyword), msg_id);
alter table inbound_messages drop constraint inbound_messages_pkey, add primary key (plan_id, msg_id);

-- Down Migration
-- None: an older Aldis runs on a newer schema only where a release says so.
