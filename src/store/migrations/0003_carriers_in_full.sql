-- Up Migration

-- Links.

alter table carriers
  add column state text not null default 'started' check (state in ('started', 'draining', 'stopped')),
  add column binds integer not null default 1 check (binds between 1 and 32),
  add column tls_ca text,
  add column tls_server_name text,
  add column sender_messages_per_second integer check (sender_messages_per_second > 0),
  add column long_messages text not null default 'udh' check (long_messages in ('udh', 'udh16', 'sar', 'payload')),
  add column submit_outcomes jsonb not null default '{}',
  add column learned_id_rule text check (learned_id_rule in ('exact', 'normalised', 'decimal-hex', 'hex-decimal')),
  drop constraint carriers_id_rule_check,
  add constraint carriers_id_rule_check
    check (id_rule in ('exact', 'normalised', 'decimal-hex', 'hex-decimal', 'auto'));
update carriers set state = 'stopped' where not enabled;
alter table carriers drop column enabled;
comment on column carriers.state is 'draining: bound, but nothing new is submitted';
comment on column carriers.binds is 'binds of each kind, shared out among the nodes';
comment on column carriers.tls_ca is 'PEM; null: the system''s own list';
comment on column carriers.submit_outcomes is 'command_status in decimal -> outcome, in place of the table of all carriers';
comment on column carriers.learned_id_rule is 'what id_rule auto has learned from receipts; null: nothing yet';

create table carrier_binds (
  carrier_id integer not null references carriers (id) on delete cascade,
  bind smallint not null,
  node_id integer,
  primary key (carrier_id, bind)
);
comment on column carrier_binds.node_id is 'node that holds the bind; free when null or no longer in nodes';

-- Routing.

alter table routes add column quality_floor jsonb;
comment on column routes.quality_floor is 'below which a carrier is out of use in this route; null: never';

create table routing_rules (
  id integer generated always as identity primary key,
  plan_id integer references service_plans (id) on delete cascade,
  sender text,
  prefix text check (prefix ~ '^\+[1-9][0-9]{0,14}$'),
  country text check (country ~ '^[A-Z]{2}$'),
  mccmnc text check (mccmnc ~ '^[0-9]{5,6}$'),
  route_id integer not null references routes (id),
  created_at timestamptz not null default now(),
  check (num_nonnulls(prefix, country, mccmnc) <= 1),
  check (num_nonnulls(plan_id, sender, prefix, country, mccmnc) > 0),
  unique nulls not distinct (plan_id, sender, prefix, country, mccmnc)
);

create table number_ranges (
  prefix text primary key check (prefix ~ '^\+[1-9][0-9]{0,14}$'),
  mccmnc text not null check (mccmnc ~ '^[0-9]{5,6}$'),
  created_at timestamptz not null default now()
);
comment on table number_ranges is 'network of a number by its longest prefix, until a receipt says better';

-- Money and senders.

create table rates (
  id integer generated always as identity primary key,
  plan_id integer references service_plans (id) on delete cascade,
  prefix text check (prefix ~ '^\+[1-9][0-9]{0,14}$'),
  country text check (country ~ '^[A-Z]{2}$'),
  mccmnc text check (mccmnc ~ '^[0-9]{5,6}$'),
  price numeric(14, 6) not null check (price >= 0),
  ptf numeric(14, 6) not null default 0 check (ptf >= 0),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  created_at timestamptz not null default now(),
  check (num_nonnulls(prefix, country, mccmnc) <= 1),
  unique nulls not distinct (plan_id, prefix, country, mccmnc)
);
comment on column rates.price is 'for one segment';
comment on column rates.ptf is 'pass-through fee for one segment';

create table sender_rules (
  id integer generated always as identity primary key,
  plan_id integer references service_plans (id) on delete cascade,
  country text not null check (country ~ '^[A-Z]{2}$'),
  sender_types text[] not null check (sender_types <@ '{short-code,e164,alphanumeric}'),
  created_at timestamptz not null default now(),
  unique nulls not distinct (plan_id, country)
);
comment on table sender_rules is 'kinds of sender allowed towards a country, beside those of the plan';

-- Text and opt-outs.

alter table service_plans
  add column smart_encoding boolean not null default false,
  add column national_languages smallint[] not null default '{}'
    check (national_languages <@ '{1,2,3,4,5,6,7,8,9,10,11,12,13}'),
  add column opt_out jsonb;
comment on column service_plans.national_languages is 'national language identifiers (3GPP 23.038) that texts may be sent in';
comment on column service_plans.opt_out is 'words and replies of STOP, START and HELP; null: not handled';

create table opt_outs (
  plan_id integer not null references service_plans (id) on delete cascade,
  sender text not null,
  recipient text not null,
  created_at timestamptz not null default now(),
  primary key (plan_id, sender, recipient)
);
comment on column opt_outs.sender is 'ours, as `from` of a send; recipient: who wants nothing more from it';

do $$
declare name text;
begin
  foreach name in array array['routing_rules', 'number_ranges', 'rates', 'sender_rules']
  loop
    execute format('create trigger directory after insert or update or delete on %I
                    for each statement execute function raise_directory_version()', name);
  end loop;
end $$;

-- Messages: why they went where they went, and each attempt that was not simply taken.

alter table messages add column route_id integer, add column route_reason text;
comment on column messages.route_reason is 'why this carrier, for people';

alter table dispatches add column carrier_id integer;
comment on column dispatches.carrier_id is 'carrier of the last attempt: the one that has the submitted segments';

alter table submissions
  add column outcome message_status, add column error_code text, add column carrier_code text,
  add column receipt_at timestamptz,
  drop constraint submissions_pkey;
alter table submissions add primary key (carrier_id, carrier_message_id, msg_id, segment);
comment on column submissions.outcome is 'what its receipt said; of messages of several segments only';

create type attempt_outcome as enum ('accepted', 'refused', 'retry', 'no-answer');

create table submit_attempts (
  msg_id uuid not null,
  attempted_at timestamptz not null,
  carrier_id integer,
  outcome attempt_outcome not null,
  command_status bigint,
  resubmission boolean not null,
  reason text,
  primary key (msg_id, attempted_at)
) partition by range (msg_id);
comment on table submit_attempts is 'attempts, but for a first one that was accepted: the message itself tells of that';
comment on column submit_attempts.resubmission is 'an earlier attempt may have reached the carrier';

-- Down Migration
-- None: an older Aldis runs on a newer schema only where a release says so.
