-- Configuration: small tables, read whole into memory by every node (see directory_version).

create table accounts (
  id integer generated always as identity primary key,
  account_id text not null unique check (account_id ~ '^[0-9a-f]{24}$'),
  name text not null,
  default_dlr_url text,
  webhook_secret text not null,
  previous_webhook_secret text,
  messages_per_second integer check (messages_per_second > 0),
  burst integer check (burst > 0),
  created_at timestamptz not null default now(),
  webhook_headers text
);
create index accounts_name on accounts (lower(name) collate "C");
comment on column accounts.webhook_secret is 'sealed with the secret key (AES-256-GCM)';
comment on column accounts.webhook_headers is
  'what every webhook of the account carries beside our own headers: JSON, sealed with the secret key; null: nothing';

create table carriers (
  id integer generated always as identity primary key,
  name text not null unique,
  host text not null,
  port integer not null default 2775 check (port between 0 and 65535),
  tls boolean not null default false,
  bind_mode text not null default 'transceiver'
    check (bind_mode in ('transceiver', 'transmitter', 'receiver', 'transmitter+receiver')),
  system_id text not null,
  password text not null,
  system_type text not null default '',
  send_window integer not null default 10 check (send_window between 1 and 1000),
  messages_per_second integer check (messages_per_second > 0),
  id_rule text not null default 'auto'
    check (id_rule in ('exact', 'normalised', 'decimal-hex', 'hex-decimal', 'auto')),
  created_at timestamptz not null default now(),
  state text not null default 'started' check (state in ('started', 'draining', 'stopped')),
  binds integer not null default 1 check (binds between 1 and 32),
  tls_ca text,
  tls_server_name text,
  sender_messages_per_second integer check (sender_messages_per_second > 0),
  long_messages text not null default 'udh' check (long_messages in ('udh', 'udh16', 'sar', 'payload')),
  submit_outcomes jsonb not null default '{}',
  learned_id_rule text check (learned_id_rule in ('exact', 'normalised', 'decimal-hex', 'hex-decimal')),
  validity_seconds integer check (validity_seconds between 60 and 86400),
  validity_format text not null default 'relative' check (validity_format in ('relative', 'absolute', 'none'))
);
comment on column carriers.password is 'sealed with the secret key (AES-256-GCM)';
comment on column carriers.port is '0: that of the simulator in each node, for sandbox plans';
comment on column carriers.state is 'draining: bound, but nothing new is submitted';
comment on column carriers.binds is 'binds of each kind, shared among the nodes';
comment on column carriers.tls_ca is 'PEM; null: the system''s own list';
comment on column carriers.submit_outcomes is 'command_status in decimal -> outcome, in place of the table of all carriers';
comment on column carriers.learned_id_rule is 'what id_rule auto has learned from receipts; null: nothing yet';
comment on column carriers.validity_seconds is 'longest validity_period it is given; null: the message''s own end';

create table routes (
  id integer generated always as identity primary key,
  name text not null unique,
  created_at timestamptz not null default now(),
  quality_floor jsonb
);
comment on column routes.quality_floor is 'below which a carrier is out of use in this route; null: never';

create table route_carriers (
  route_id integer not null references routes (id) on delete cascade,
  carrier_id integer not null references carriers (id),
  priority integer not null default 0,
  weight integer not null default 1 check (weight > 0),
  primary key (route_id, carrier_id)
);

create table service_plans (
  id integer generated always as identity primary key,
  service_plan_id text not null unique check (service_plan_id ~ '^[0-9a-f]{24}$'),
  account_id integer not null references accounts (id),
  name text not null,
  active boolean not null default true,
  route_id integer references routes (id),
  inbound_url text,
  messages_per_second integer check (messages_per_second > 0),
  burst integer check (burst > 0),
  sender_types text[] not null default '{short-code,e164,alphanumeric}'
    check (sender_types <@ '{short-code,e164,alphanumeric}'),
  ambiguous_submits text not null default 'resubmit' check (ambiguous_submits in ('resubmit', 'unknown')),
  created_at timestamptz not null default now(),
  smart_encoding boolean not null default false,
  national_languages smallint[] not null default '{}'
    check (national_languages <@ '{1,2,3,4,5,6,7,8,9,10,11,12,13}'),
  opt_out jsonb,
  validity_seconds integer not null default 86400 check (validity_seconds between 60 and 86400),
  max_validity_seconds integer not null default 86400 check (max_validity_seconds between 60 and 86400),
  allowed_countries text[] not null default '{}',
  texts text not null default 'keep' check (texts in ('keep', 'discard')),
  caps jsonb,
  limit_events boolean not null default false,
  pumping_guard jsonb
);
create index service_plans_name on service_plans (lower(name) collate "C");
comment on column service_plans.national_languages is 'national language identifiers (3GPP 23.038) that texts may be sent in';
comment on column service_plans.opt_out is 'words and replies of STOP, START and HELP; null: not handled';
comment on column service_plans.validity_seconds is 'from acceptance until a message that no carrier took has failed';
comment on column service_plans.max_validity_seconds is 'most that the sender of a message may ask for';
comment on column service_plans.allowed_countries is 'where it may send to, ISO 3166-1 alpha-2; empty: everywhere';
comment on column service_plans.caps is 'most messages and costs of a day and of a month; null: no caps';
comment on column service_plans.pumping_guard is 'what pauses a country because of artificial traffic; null: nothing';
comment on column service_plans.limit_events is 'its inbound URL is told of its limits';
comment on column service_plans.texts is 'discard: kept only until the message has ended';

create table tokens (
  id integer generated always as identity primary key,
  account_id integer not null references accounts (id),
  plan_ids integer[],
  name text not null,
  hint text not null,
  hash bytea not null unique,
  created_at timestamptz not null default now(),
  revoked_at timestamptz,
  expires_at timestamptz,
  scopes text[] constraint tokens_scopes
    check (scopes <@ array['send', 'read', 'webhooks'] and cardinality(scopes) > 0)
);
comment on column tokens.plan_ids is 'service_plans.id the token is limited to; null: every plan of the account';
comment on column tokens.hash is 'SHA-256 of the token; the token itself is shown once and never stored';
comment on column tokens.expires_at is 'refused from then on; null: never';
comment on column tokens.scopes is 'what the token may do; null: everything';

create table operator_tokens (
  id integer generated always as identity primary key,
  name text not null check (lower(name) <> 'environment'),
  role text not null check (role in ('admin', 'support')),
  hint text not null,
  hash bytea not null unique,
  created_at timestamptz not null default now(),
  revoked_at timestamptz
);
create unique index operator_tokens_name on operator_tokens (lower(name));
comment on column operator_tokens.name is 'never given to another token, because the audit log names operators by it';
comment on column operator_tokens.hash is 'SHA-256 of the token; the token itself is shown once and never stored';

create table sender_subscriptions (
  plan_id integer not null references service_plans (id),
  sender text not null,
  status text not null,
  created_at timestamptz not null default now(),
  primary key (plan_id, sender)
);

create table inbound_numbers (
  number text primary key,
  plan_id integer not null references service_plans (id),
  keywords text[] not null default '{}',
  created_at timestamptz not null default now()
);

create table sendsms_users (
  username text primary key check (username ~ '^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$'),
  plan_id integer not null references service_plans (id),
  password_hash text not null,
  default_sender text,
  forced_sender text,
  calling_code text check (calling_code ~ '^[1-9][0-9]{0,2}$'),
  dlr_url text,
  created_at timestamptz not null default now()
);
comment on table sendsms_users is 'who may send with /cgi-bin/sendsms, each with one plan';
comment on column sendsms_users.password_hash is 'by scrypt, with its parameters and its salt';

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

create table opt_outs (
  plan_id integer not null references service_plans (id) on delete cascade,
  sender text not null,
  recipient text not null,
  created_at timestamptz not null default now(),
  confirmation uuid,
  primary key (plan_id, sender, recipient)
);
comment on column opt_outs.sender is 'ours, as `from` of a send; recipient: who wants nothing more from it';
comment on column opt_outs.confirmation is 'latest answer to the person: goes out all the same';

-- One row: raised in the transaction of every configuration change, polled by every node. Writers wait for each other here until
-- they commit, so a later version is never seen before an earlier one.
create table directory_version (
  singleton boolean primary key default true check (singleton),
  version bigint not null,
  table_versions jsonb not null default '{}'
);
insert into directory_version (version) values (1);
comment on column directory_version.table_versions is
  'by table, the version of its last change: nodes read what depends on it anew. Without one: not changed since it was made';

-- Only where rows changed: removing a plan removes its rates too, though it has none.
create function raise_directory_version() returns trigger language plpgsql as
$$ begin
  if exists (select from changed) then
    update directory_version
    set version = version + 1, table_versions = table_versions || jsonb_build_object(tg_table_name, version + 1);
  end if;
  return null;
end $$;

do $$
declare name text;
begin
  foreach name in array array['accounts', 'carriers', 'routes', 'route_carriers', 'service_plans', 'tokens', 'operator_tokens',
                              'sender_subscriptions', 'inbound_numbers', 'sendsms_users', 'routing_rules',
                              'sender_rules', 'rates', 'number_ranges']
  loop
    execute format('create trigger directory_insert after insert on %I referencing new table as changed
                    for each statement execute function raise_directory_version()', name);
    execute format('create trigger directory_update after update on %I referencing new table as changed
                    for each statement execute function raise_directory_version()', name);
    execute format('create trigger directory_delete after delete on %I referencing old table as changed
                    for each statement execute function raise_directory_version()', name);
  end loop;
end $$;

-- What plans with caps have used, and the events of their limits. Not configuration: no node keeps it in memory.

create table plan_usage (
  plan_id integer not null references service_plans (id) on delete cascade,
  unit text not null,
  step text not null check (step in ('day', 'month')),
  begins date not null,
  taken bigint not null default 0,
  primary key (plan_id, unit, step, begins)
) with (fillfactor = 50);
comment on column plan_usage.unit is '''messages'', or the currency whose millionths are counted';
comment on column plan_usage.taken is 'used by messages, or given to processes for messages to come';

-- Rate limits over several nodes. Not logged: after a crash every limit begins with a full burst, as after a restart.
create unlogged table rate_usage (
  scope text not null check (scope in ('account', 'plan')),
  id integer not null,
  tokens double precision not null,
  asked double precision not null default 0,
  as_of timestamptz not null,
  primary key (scope, id)
) with (fillfactor = 50);
comment on column rate_usage.tokens is 'how many messages processes may still take; negative: owed';
comment on column rate_usage.asked is 'messages that processes had within the last second, about';

create table country_pauses (
  plan_id integer not null references service_plans (id) on delete cascade,
  country text not null,
  since timestamptz not null,
  until timestamptz not null,
  reason text not null,
  primary key (plan_id, country)
);

create table prefix_counts (
  plan_id integer not null references service_plans (id) on delete cascade,
  prefix text not null,
  hour timestamptz not null,
  count integer not null,
  primary key (plan_id, prefix)
);
comment on table prefix_counts is 'messages to busy ranges of numbers in an hour, for plans with a pumping guard';

create table limit_events (
  id bigint generated always as identity primary key,
  plan_id integer not null references service_plans (id) on delete cascade,
  subject text not null,
  contents json not null,
  at timestamptz not null default now(),
  attempts integer not null default 0,
  due_at timestamptz,
  taken_at timestamptz,
  unique (plan_id, subject)
);
create index limit_events_due on limit_events (due_at) where due_at is not null;
create index limit_events_used on limit_events (at) where contents->>'percent' = '100';
comment on column limit_events.subject is 'what makes it one: the cap, its period and the percentage';
comment on column limit_events.due_at is 'of the next attempt to push it; null: taken, given up, or not asked for';

-- Every change through the admin API, in the transaction of the change. No node keeps it in memory.

create table audit_log (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  token text not null,
  address text not null,
  operation text not null,
  object_type text not null,
  object_id text not null,
  before json,
  after json
);
create index audit_log_at on audit_log (at);
create index audit_log_object on audit_log (object_type, object_id, id);
create index audit_log_token on audit_log (token, id);
create index audit_log_operation on audit_log (operation, id);
comment on column audit_log.token is 'name of the operator token';
comment on column audit_log.before is 'the object without secrets; null: there was none';

-- Nodes and what each owns. A bucket is the last byte of a msg_id. Binds are spread over the nodes: each node must know
-- what the others can do, and hand over what only they can send.

create table nodes (
  node_id integer generated always as identity primary key,
  name text not null unique,
  started_at timestamptz not null default now(),
  expires_at timestamptz not null,
  migration text not null default '',
  role text not null default 'all' check (role in ('all', 'api', 'carrier', 'webhook')),
  carriers jsonb not null default '{}'
);
comment on column nodes.migration is 'newest migration that its program knows';
comment on column nodes.carriers is 'condition of each carrier that its own sessions can submit to, by carrier id';

create table buckets (
  bucket smallint primary key check (bucket between 0 and 255),
  node_id integer
);
insert into buckets (bucket) select generate_series(0, 255);

create table carrier_binds (
  carrier_id integer not null references carriers (id) on delete cascade,
  bind smallint not null,
  node_id integer,
  primary key (carrier_id, bind)
);
comment on column carrier_binds.node_id is 'node that holds the bind; free when null or no longer in nodes';

create table node_reports (
  node_id integer primary key,
  reported_at timestamptz not null,
  report json not null
);
comment on table node_reports is 'what a node last told the others of itself and its binds; dead when no longer in nodes';
comment on column node_reports.report is 'never looked into; jsonb would refuse NUL and half surrogate pairs, which texts of carriers can hold';

-- The journal: what happened, in the order of each lane. A lane is written by one process, and never by another after it.

create table lanes (
  lane integer generated always as identity primary key,
  node_id integer not null,
  epoch integer not null default 1,
  cut bigint not null default 0
);
comment on table lanes is 'who writes which part of the journal';
comment on column lanes.epoch is 'raised when the lane is taken over: its writer finds itself fenced';
comment on column lanes.cut is 'entries up to this one are projected into the records, and gone';

create table journal (
  lane integer not null,
  n bigint not null,
  data bytea not null,
  primary key (lane, n)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
        autovacuum_vacuum_insert_threshold = -1, autovacuum_vacuum_cost_delay = 0);
alter table journal alter column data set storage external;
comment on column journal.n is 'counted by the lane''s writer, from 1 without gaps';
comment on column journal.data is 'the facts of one group commit; empty: a fence';

-- Messages. msg_id is a UUIDv7 and createdAt is the millisecond inside it, so a day is a range of msg_id.
-- On an empty table all indexes cost the same to the planner, and it takes the newest: where the rows are looked up while
-- a table may have been empty, the primary key is made after the other indexes (docs/adr/0006).

create type message_status as enum ('QUEUED', 'SENT', 'DELIVERED', 'FAILED', 'UNKNOWN');

create table messages (
  plan_id integer not null,
  msg_id uuid not null,
  status message_status not null default 'QUEUED',
  event_sequence smallint not null default 0,
  segments smallint not null,
  delivered_bits bigint not null default 0,
  unknown_bits bigint not null default 0,
  carrier_id integer,
  sent_at timestamptz,
  updated_at timestamptz not null,
  sender text not null,
  recipient text not null,
  body text not null,
  callback_url text,
  country text,
  mccmnc text,
  error_code text not null default '000',
  carrier_code text,
  price numeric(14, 6),
  ptf numeric(14, 6),
  currency text,
  route_id integer,
  route_reason text,
  segmentation text,
  lane integer,
  discards_text boolean
) partition by range (msg_id);
comment on column messages.event_sequence is 'number of status changes so far; the sequence of the event that announced the last';
comment on column messages.delivered_bits is 'bit n: segment n is delivered; a repeated receipt changes nothing';
comment on column messages.carrier_code is 'the carrier''s own status or error, for the operator';
comment on column messages.route_reason is 'why this carrier, for people';
comment on column messages.segmentation is 'how it is divided since it started over: only segments divided alike count; null: it never did';
comment on column messages.body is 'empty: discarded, because the message has ended';
comment on column messages.discards_text is 'the text is kept only until the message has ended; null: as long as the message';
comment on column messages.lane is 'the lane of the journal that has it in progress; null: it is at rest, and this is what it is';

-- Messages of one sender, country, network and status are of one kind. The lists of messages go by kinds (docs/adr/0021).
create function message_kind(sender text, country text, mccmnc text, status message_status) returns integer
  language sql immutable parallel safe
  return hashtext(sender || '/' || coalesce(country, '') || '/' || coalesce(mccmnc, '')) # hashenum(status);
create index messages_recipient on messages (plan_id, recipient, msg_id);
create index messages_kind on messages (plan_id, message_kind(sender, country, mccmnc, status), msg_id);
alter table messages add primary key (plan_id, msg_id);

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

-- A transaction that has noted the kinds of its messages itself, once for many, sets aldis.kinds_are_noted.
create trigger new_kind after insert on messages for each row
  when (current_setting('aldis.kinds_are_noted', true) is distinct from 'on')
  execute function note_message_kind();
create trigger other_kind after update on messages for each row
  when ((old.sender, old.country, old.mccmnc, old.status) is distinct from (new.sender, new.country, new.mccmnc, new.status)
    and current_setting('aldis.kinds_are_noted', true) is distinct from 'on')
  execute function note_message_kind();

-- Messages that wait to be submitted. One that is being submitted is in progress in the lane of its node.
create table dispatches (
  bucket smallint not null,
  msg_id uuid not null,
  plan_id integer not null,
  failed_attempts smallint not null default 0,
  accepted_pdu_bits bigint not null default 0,
  ambiguous boolean not null default false,
  due_at timestamptz not null,
  expires_at timestamptz not null,
  carrier_id integer,
  route_id integer not null default 0,
  segmentation text,
  started_over boolean not null default false,
  chosen_carrier_id integer not null default 0,
  primary key (bucket, msg_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
        autovacuum_vacuum_insert_threshold = -1, autovacuum_vacuum_cost_delay = 0);
create index dispatches_waiting on dispatches (plan_id, route_id, chosen_carrier_id, due_at);
create index dispatches_expiring on dispatches (expires_at);
create index dispatches_handed on dispatches (chosen_carrier_id, due_at) where chosen_carrier_id <> 0;
comment on column dispatches.accepted_pdu_bits is 'bit n: the carrier has accepted PDU n, which carries segment n or all of them';
comment on column dispatches.ambiguous is 'may have reached the carrier in an earlier attempt';
comment on column dispatches.carrier_id is 'carrier of the last attempt: the one that has accepted these PDUs';
comment on column dispatches.route_id is 'route it waits for; 0: to be found out';
comment on column dispatches.segmentation is 'how the accepted PDUs were divided: only a message divided alike can go on after them';
comment on column dispatches.started_over is 'it was divided differently, and segments of it were sent again';
comment on column dispatches.chosen_carrier_id is
  'carrier that was chosen for it: a node with sessions to it takes it up; 0: whichever node it falls to';

-- One row per segment a carrier accepted: what its receipt is matched on. A carrier may give all segments one id.
create table submissions (
  carrier_id integer not null,
  carrier_message_id text not null,
  msg_id uuid not null,
  plan_id integer not null,
  answered_ms integer,
  latency_ms integer,
  segment smallint not null,
  outcome message_status,
  error_code text,
  carrier_code text,
  receipt_at timestamptz,
  segmentation text,
  primary key (carrier_id, carrier_message_id, msg_id, segment)
) partition by range (msg_id);
comment on column submissions.carrier_message_id is 'canonical form under the carrier''s id rule';
comment on column submissions.answered_ms is 'when submit_sm_resp came, in milliseconds since the message was accepted';
comment on column submissions.latency_ms is 'from submit_sm to submit_sm_resp';
comment on column submissions.outcome is 'what its receipt said; of messages of several segments only';
comment on column submissions.segmentation is 'how its message was divided, if that had started over';

create type attempt_outcome as enum ('accepted', 'refused', 'retry', 'no-answer');

create table submit_attempts (
  msg_id uuid not null,
  attempted_at timestamptz not null,
  plan_id integer not null,
  took_ms integer,
  carrier_id integer,
  outcome attempt_outcome not null,
  command_status bigint,
  segment smallint,
  resubmission boolean not null,
  reason text,
  primary key (plan_id, msg_id, attempted_at)
) partition by range (msg_id);
comment on table submit_attempts is 'attempts, but for a first one that was accepted: the message itself tells of that';
comment on column submit_attempts.took_ms is 'until the last answer came, or was no longer awaited';
comment on column submit_attempts.segment is 'that the carrier did not take';
comment on column submit_attempts.resubmission is 'an earlier attempt may have reached the carrier';

create table idempotency_keys (
  plan_id integer not null,
  key_hash bytea not null,
  request_hash bytea not null,
  msg_id uuid not null,
  created_at timestamptz not null,
  primary key (plan_id, key_hash)
);
create index idempotency_keys_age on idempotency_keys (created_at);

-- Receipts. The one of a message of one segment stands in the event that it caused, a row that is written anyway.

create table receipts (
  msg_id uuid not null,
  carrier_message_id text not null,
  received_at timestamptz not null,
  matched_at timestamptz,
  plan_id integer not null,
  carrier_id integer not null,
  outcome message_status not null,
  error_code text not null,
  receipt json,
  primary key (plan_id, msg_id, carrier_message_id, received_at, outcome)
) partition by range (msg_id);
comment on table receipts is 'receipts, but for those that stand in an event: of several segments, intermediate, repeated, late';
comment on column receipts.matched_at is 'when its message was found, if it had been parked until then';
comment on column receipts.outcome is 'how it was interpreted; SENT: an intermediate one, which changes nothing';

-- Receipts whose submission is not known (yet), or whose message another node has in progress. Nodes read on in what
-- others park. A receipt may be parked long after it came.
create table parked_receipts (
  carrier_id integer not null,
  carrier_message_id text not null,
  id bigint generated always as identity,
  outcome message_status not null,
  error_code text not null,
  carrier_code text,
  mccmnc text,
  received_at timestamptz not null,
  addresses text[] not null default '{}',
  sender_name text,
  untranslated boolean not null default false,
  receipted_id text,
  id_rule text,
  receipt json,
  msg_id uuid,
  parked_at timestamptz not null default clock_timestamp()
);
create index parked_receipts_age on parked_receipts (received_at);
create index parked_receipts_rule on parked_receipts (carrier_id, id_rule, received_at);
create index parked_receipts_order on parked_receipts (parked_at);
alter table parked_receipts add primary key (carrier_id, carrier_message_id, id);
comment on column parked_receipts.addresses is 'digits of its two addresses: the recipient of its message is one of them';
comment on column parked_receipts.sender_name is 'that one of its addresses that is an alphanumeric sender';
comment on column parked_receipts.untranslated is 'carrier_message_id is normalised only: the carrier''s id rule was not learned yet';
comment on column parked_receipts.receipted_id is 'the id as the receipt has it, where carrier_message_id is another';
comment on column parked_receipts.id_rule is 'rule under which the id was read into carrier_message_id; auto: not read yet';
comment on column parked_receipts.msg_id is 'its message, where a lane had that in progress; null: not known';
comment on column parked_receipts.parked_at is 'by the clock of the database';

-- Submits without an answer. If the carrier has one of them, its receipt has an id that nobody knows.
create table unanswered_submits (
  recipient text not null,
  sender text not null,
  carrier_id integer,
  plan_id integer not null,
  msg_id uuid not null,
  sent_at timestamptz not null
);
create index unanswered_submits_age on unanswered_submits (sent_at);
alter table unanswered_submits add primary key (recipient, msg_id, sent_at);
comment on column unanswered_submits.recipient is 'digits, as in parked_receipts.addresses';
comment on column unanswered_submits.sender is 'digits of a number or short code; an alphanumeric sender as it is';
comment on column unanswered_submits.carrier_id is 'null: its node died, and nobody else knows the carrier';
comment on column unanswered_submits.sent_at is 'if its node died, when the message was accepted: it was not sent before';

-- Inbound (MO). Its messages are few enough for an index of each filter. Of a long message `parts` of `parts_expected` came.

create table inbound_messages (
  plan_id integer not null,
  msg_id uuid not null,
  carrier_id integer not null,
  parts smallint not null default 1,
  parts_expected smallint not null default 1,
  sender text not null,
  recipient text not null,
  body text not null,
  keyword text
) partition by range (msg_id);
create index inbound_messages_sender on inbound_messages (plan_id, sender, msg_id);
create index inbound_messages_recipient on inbound_messages (plan_id, recipient, msg_id);
create index inbound_messages_keyword on inbound_messages (plan_id, lower(keyword), msg_id);
alter table inbound_messages add primary key (plan_id, msg_id);

-- locking_shift and single_shift: national language identifiers of the part's user data header (3GPP 23.038); null: the
-- default tables.
create table inbound_parts (
  carrier_id integer not null,
  sender text not null,
  recipient text not null,
  kind text not null,
  reference integer not null,
  total smallint not null,
  sequence smallint not null,
  data_coding smallint not null,
  payload bytea not null,
  received_at timestamptz not null,
  locking_shift smallint,
  single_shift smallint,
  primary key (carrier_id, sender, recipient, kind, reference, total, sequence)
);
create index inbound_parts_age on inbound_parts (received_at);

create table unowned_inbound_messages (
  msg_id uuid primary key,
  carrier_id integer not null,
  parts smallint not null default 1,
  parts_expected smallint not null default 1,
  sender text not null,
  recipient text not null,
  body text not null
);

-- Inbound PDUs that were recorded and whose answer the carrier may not have read. A row is written with its message, or
-- its part of one, and goes when the answer is known to have arrived. Two sessions that are offered the same PDU at once
-- both find nothing recorded: the turn lets one of them record it.
create table inbound_offers (
  carrier_id integer not null,
  fingerprint bytea not null,
  offer_id uuid not null,
  holder integer,
  offered_at timestamptz not null,
  turn integer not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
        autovacuum_vacuum_insert_threshold = -1, autovacuum_vacuum_cost_delay = 0);
create index inbound_offers_age on inbound_offers (offered_at);
create unique index inbound_offers_turn on inbound_offers (carrier_id, fingerprint, turn);
alter table inbound_offers add primary key (carrier_id, fingerprint, offer_id);
comment on table inbound_offers is 'recorded PDUs that their carrier may offer again';
comment on column inbound_offers.fingerprint is 'of addresses, data_coding, esm_class, octets and TLVs';
comment on column inbound_offers.holder is 'node whose link it came over and that knows how it was answered; null: nobody knows';
comment on column inbound_offers.turn is 'counts PDUs with the same contents, from the last that its recorder knew of';

-- What customers are told of: a status change of an outbound message, or an inbound message. Kept as long as its message,
-- whether or not there is a URL to push it to.

create table events (
  plan_id integer not null,
  msg_id uuid not null,
  sequence smallint not null,
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
  destination text,
  receipt json
) partition by range (msg_id);
create index events_feed on events (plan_id, position, msg_id, sequence);
alter table events add primary key (plan_id, msg_id, sequence);
comment on column events.sequence is '0 for an inbound message; 1, 2, … for the status changes of an outbound one';
comment on column events.position is 'place in the plan''s feed, drawn from feeds; of one transaction, msg_id and sequence order them';
comment on column events.delivered_at is 'when it was answered 2xx; this and the following tell of that attempt';
comment on column events.receipt is 'the receipt that caused it, of a message of one segment: text and TLVs';

-- A plan's events are numbered as they are written, under its row here: none appears behind a later one.
create table feeds (
  plan_id integer primary key,
  position bigint not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000,
        autovacuum_vacuum_cost_delay = 0);
comment on column feeds.position is 'of the last event of the plan; a plan without one has no row';

-- Events still to be pushed to their URL, or given up.
create type delivery_state as enum ('waiting', 'parked', 'failed');

create table event_deliveries (
  plan_id integer not null,
  msg_id uuid not null,
  sequence smallint not null,
  bucket smallint not null,
  failed_attempts smallint not null default 0,
  earlier_attempts smallint not null default 0,
  holder integer,
  due_at timestamptz not null,
  began_at timestamptz not null,
  state delivery_state not null default 'waiting',
  destination text,
  primary key (plan_id, msg_id, sequence)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
        autovacuum_vacuum_insert_threshold = -1, autovacuum_vacuum_cost_delay = 0);
create index event_deliveries_waiting on event_deliveries (due_at) where holder is null;
create index event_deliveries_waiting_of_plan on event_deliveries (plan_id, due_at)
  where holder is null and due_at < 'infinity';
create index event_deliveries_of_destination on event_deliveries (plan_id, destination, state, due_at)
  where destination is not null;
comment on column event_deliveries.holder is 'node that has it in memory; null: waiting for due_at';
comment on column event_deliveries.failed_attempts is 'of its schedule';
comment on column event_deliveries.earlier_attempts is 'attempts made before its schedule began anew';
comment on column event_deliveries.began_at is 'when its schedule began';
comment on column event_deliveries.state is
  'waiting: for due_at; parked: until its destination takes it, or due_at; failed: until somebody has it redelivered';
comment on column event_deliveries.destination is 'scheme, host and port; null until an attempt has failed or it was parked';

create table webhook_attempts (
  msg_id uuid not null,
  sequence smallint not null,
  attempt smallint not null,
  plan_id integer not null,
  attempted_at timestamptz not null,
  latency_ms integer not null,
  response_status smallint,
  error text,
  response_head text,
  primary key (plan_id, msg_id, sequence, attempt)
) partition by range (msg_id);

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

-- Carrier quality.

create table quality_minutes (
  route_id integer not null,
  carrier_id integer not null,
  minute timestamptz not null,
  accepted integer not null,
  refused integer not null,
  throttled integer not null,
  no_answer integer not null,
  submit_latency integer[] not null check (cardinality(submit_latency) = 15),
  submit_latency_max integer not null,
  sent integer not null,
  delivered integer not null,
  failed integer not null,
  unknown integer not null,
  receipt_latency integer[] not null check (cardinality(receipt_latency) = 18)
) with (fillfactor = 60);
create index quality_minutes_minute on quality_minutes (minute);
alter table quality_minutes add primary key (route_id, carrier_id, minute);
comment on table quality_minutes is 'how a carrier did in a route: counts of all nodes, added up every few seconds';
comment on column quality_minutes.minute is 'of the answer to the submit_sm, or of the message''s sent_at';
comment on column quality_minutes.accepted is 'submit_sm, as refused, throttled, no_answer; sent and what follows: messages';
comment on column quality_minutes.submit_latency is 'answers by SUBMIT_LATENCY_BOUNDS_MS of domain/carriers/quality.ts';
comment on column quality_minutes.submit_latency_max is 'ms';
comment on column quality_minutes.receipt_latency is 'final receipts by RECEIPT_LATENCY_BOUNDS_MS';

-- Statistics.

create sequence statistics_writers as integer cycle;
comment on sequence statistics_writers is 'a process takes a number when it starts, and writes rows of its own';

create table statistics (
  step_s integer not null check (step_s in (60, 3600, 86400)),
  at timestamptz not null,
  plan_id integer not null,
  route_id integer not null,
  carrier_id integer not null,
  country text not null,
  writer integer not null,
  accepted integer not null,
  sent integer not null,
  delivered integer not null,
  failed integer not null,
  unknown integer not null,
  inbound integer not null,
  segments integer not null,
  codes smallint[] not null,
  code_counts integer[] not null,
  currencies text[] not null,
  prices bigint[] not null,
  accept_0 integer, accept_1 integer, accept_2 integer, accept_3 integer, accept_4 integer, accept_5 integer, accept_6 integer, accept_7 integer,
  accept_8 integer, accept_9 integer, accept_10 integer, accept_11 integer, accept_12 integer, accept_13 integer, accept_14 integer, accept_15 integer,
  submit_0 integer, submit_1 integer, submit_2 integer, submit_3 integer, submit_4 integer, submit_5 integer, submit_6 integer, submit_7 integer,
  submit_8 integer, submit_9 integer, submit_10 integer, submit_11 integer, submit_12 integer, submit_13 integer, submit_14 integer, submit_15 integer,
  receipt_0 integer, receipt_1 integer, receipt_2 integer, receipt_3 integer, receipt_4 integer, receipt_5 integer, receipt_6 integer, receipt_7 integer,
  receipt_8 integer, receipt_9 integer, receipt_10 integer, receipt_11 integer, receipt_12 integer, receipt_13 integer, receipt_14 integer, receipt_15 integer,
  webhook_0 integer, webhook_1 integer, webhook_2 integer, webhook_3 integer, webhook_4 integer, webhook_5 integer, webhook_6 integer, webhook_7 integer,
  webhook_8 integer, webhook_9 integer, webhook_10 integer, webhook_11 integer, webhook_12 integer, webhook_13 integer, webhook_14 integer, webhook_15 integer
) with (fillfactor = 80);
create index statistics_at on statistics (step_s, at);
alter table statistics add primary key (plan_id, step_s, at, route_id, carrier_id, country, writer);
comment on table statistics is 'what happened to messages in a minute, hour or day (step_s seconds)';
comment on column statistics.plan_id is '0: the sums of all plans, without countries';
comment on column statistics.route_id is '0: none or not known yet, as carrier_id and an empty country';
comment on column statistics.writer is 'the process that counted a minute; 0 of hours and days, which are sums';
comment on column statistics.codes is 'error codes of FAILED messages, plus 1000 of UNKNOWN ones; code_counts: how many';
comment on column statistics.prices is 'millionths of currencies';
comment on column statistics.accept_0 is 'latencies in this bucket of LATENCY_BOUNDS_MS (domain/statistics/query.ts); null: none';

create table statistics_rolled_up (
  step_s integer primary key,
  until timestamptz not null
);
insert into statistics_rolled_up (step_s, until) values
  (3600, date_trunc('hour', now(), 'UTC')),
  (86400, date_trunc('day', now(), 'UTC'));
comment on table statistics_rolled_up is 'up to when minutes are summed into hours, and hours into days';

create table carrier_pauses (
  route_id integer not null references routes (id) on delete cascade,
  carrier_id integer not null references carriers (id) on delete cascade,
  since timestamptz not null,
  until timestamptz not null,
  reason text not null,
  primary key (route_id, carrier_id)
);
create index carrier_pauses_carrier on carrier_pauses (carrier_id);
comment on table carrier_pauses is 'carriers out of use in a route by its quality floor';
comment on column carrier_pauses.until is 'afterwards only messages sent since are judged';

create table alarms (
  name text not null,
  object text not null,
  alarm_id uuid not null default gen_random_uuid(),
  state text not null default 'raised' check (state in ('raised', 'cleared')),
  since timestamptz not null,
  value double precision,
  summary text not null,
  raised_at timestamptz not null default now(),
  cleared_at timestamptz check ((cleared_at is null) = (state = 'raised')),
  attempts smallint not null default 0,
  due_at timestamptz default now(),
  primary key (name, object)
);
comment on table alarms is 'what the operator is told of; a cleared alarm goes when that was told';
comment on column alarms.attempts is 'to tell its present state';
comment on column alarms.due_at is 'of the next attempt; null: none';

-- What a program must know to work with this schema (docs/adr/0031). A migration that the release before cannot work with
-- calls require_migration, which refuses while a node runs that could not go on.

create table schema_requirement (
  must_know text not null
);
create unique index schema_requirement_one_row on schema_requirement ((true));
insert into schema_requirement values ('0001_initial');

create function require_migration(wanted text) returns void language plpgsql as $$
declare
  behind text;
begin
  -- First: a node that registers meanwhile has done so before the next statements, or waits for this and is refused.
  update schema_requirement set must_know = wanted;
  -- A node that was cut off must register again: it would renew a lease that is over.
  delete from nodes where expires_at < clock_timestamp() and migration collate "C" < wanted;
  select string_agg(name, ', ' order by name) into behind from nodes where migration collate "C" < wanted;
  if behind is not null then
    raise exception 'stop these nodes first, their version cannot work with the new schema: %', behind;
  end if;
end $$;
