-- Up Migration

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
  created_at timestamptz not null default now()
);
comment on column accounts.webhook_secret is 'sealed with the secret key (AES-256-GCM)';

create table carriers (
  id integer generated always as identity primary key,
  name text not null unique,
  enabled boolean not null default true,
  host text not null,
  port integer not null check (port between 1 and 65535),
  tls boolean not null default false,
  bind_mode text not null default 'transceiver'
    check (bind_mode in ('transceiver', 'transmitter', 'receiver', 'transmitter+receiver')),
  system_id text not null,
  password text not null,
  system_type text not null default '',
  send_window integer not null default 10 check (send_window between 1 and 1000),
  messages_per_second integer check (messages_per_second > 0),
  id_rule text not null default 'exact' check (id_rule in ('exact', 'normalised', 'decimal-hex', 'hex-decimal')),
  created_at timestamptz not null default now()
);
comment on column carriers.password is 'sealed with the secret key (AES-256-GCM)';

create table routes (
  id integer generated always as identity primary key,
  name text not null unique,
  created_at timestamptz not null default now()
);

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
  created_at timestamptz not null default now()
);

create table tokens (
  id integer generated always as identity primary key,
  account_id integer not null references accounts (id),
  plan_ids integer[],
  name text not null,
  hint text not null,
  hash bytea not null unique,
  created_at timestamptz not null default now(),
  revoked_at timestamptz
);
comment on column tokens.plan_ids is 'service_plans.id the token is limited to; null: every plan of the account';
comment on column tokens.hash is 'SHA-256 of the token; the token itself is shown once and never stored';

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

-- One row: raised in the transaction of every configuration change, polled by every node.
create table directory_version (
  singleton boolean primary key default true check (singleton),
  version bigint not null
);
insert into directory_version (version) values (1);

create function raise_directory_version() returns trigger language plpgsql as
$$ begin update directory_version set version = version + 1; return null; end $$;

do $$
declare name text;
begin
  foreach name in array array['accounts', 'carriers', 'routes', 'route_carriers', 'service_plans', 'tokens',
                              'sender_subscriptions', 'inbound_numbers']
  loop
    execute format('create trigger directory after insert or update or delete on %I
                    for each statement execute function raise_directory_version()', name);
  end loop;
end $$;

-- Nodes and the buckets they own. A bucket is the last byte of a msg_id.

create table nodes (
  node_id integer generated always as identity primary key,
  name text not null unique,
  started_at timestamptz not null default now(),
  expires_at timestamptz not null
);

create table buckets (
  bucket smallint primary key check (bucket between 0 and 255),
  node_id integer
);
insert into buckets (bucket) select generate_series(0, 255);

-- Messages. msg_id is a UUIDv7 and createdAt is the millisecond inside it, so a day is a range of msg_id.

create type message_status as enum ('QUEUED', 'SENT', 'DELIVERED', 'FAILED', 'UNKNOWN');

create table messages (
  plan_id integer not null,
  msg_id uuid not null,
  status message_status not null default 'QUEUED',
  event_seq smallint not null default 0,
  segments smallint not null,
  delivered_segments bigint not null default 0,
  unknown_segments bigint not null default 0,
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
  currency text
) partition by range (msg_id);
create index messages_recipient on messages (plan_id, recipient, msg_id);
-- After the other index: on an empty partition both cost the same to the planner, and it takes the newer one.
alter table messages add primary key (plan_id, msg_id);
comment on column messages.event_seq is 'number of status changes so far; the sequence of the event that announced the last';
comment on column messages.delivered_segments is 'bit n: segment n is delivered; a repeated receipt changes nothing';
comment on column messages.carrier_code is 'the carrier''s own status or error, for the operator';

-- What is still to be submitted. Gone once the outcome is recorded.
create table dispatches (
  bucket smallint not null,
  msg_id uuid not null,
  plan_id integer not null,
  holder integer,
  attempt smallint not null default 0,
  submitted_segments bigint not null default 0,
  ambiguous boolean not null default false,
  due_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (bucket, msg_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
        autovacuum_vacuum_insert_threshold = -1, autovacuum_vacuum_cost_delay = 0);
create index dispatches_waiting on dispatches (plan_id, due_at) where holder is null;
create index dispatches_expiring on dispatches (expires_at) where holder is null;
comment on column dispatches.holder is 'node that has it in memory and may have sent it; null: waiting for due_at';
comment on column dispatches.submitted_segments is 'bit n: the carrier has accepted segment n';
comment on column dispatches.ambiguous is 'may have reached the carrier in an earlier attempt';

-- One row per segment a carrier accepted: what its receipt is matched on.
create table submissions (
  carrier_id integer not null,
  carrier_message_id text not null,
  msg_id uuid not null,
  plan_id integer not null,
  segment smallint not null,
  primary key (carrier_id, carrier_message_id, msg_id)
) partition by range (msg_id);
comment on column submissions.carrier_message_id is 'canonical form under the carrier''s id rule';

-- Receipts whose submission is not known (yet).
create table parked_receipts (
  carrier_id integer not null,
  carrier_message_id text not null,
  id bigint generated always as identity,
  outcome message_status not null,
  error_code text not null,
  carrier_code text,
  mccmnc text,
  received_at timestamptz not null,
  primary key (carrier_id, carrier_message_id, id)
);
create index parked_receipts_age on parked_receipts (received_at);

-- Inbound (MO).

create table inbound_messages (
  plan_id integer not null,
  msg_id uuid not null,
  carrier_id integer not null,
  sender text not null,
  recipient text not null,
  body text not null,
  keyword text,
  primary key (plan_id, msg_id)
) partition by range (msg_id);

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
  primary key (carrier_id, sender, recipient, kind, reference, total, sequence)
);
create index inbound_parts_age on inbound_parts (received_at);

create table unowned_inbound_messages (
  msg_id uuid primary key,
  carrier_id integer not null,
  sender text not null,
  recipient text not null,
  body text not null
);

-- Webhook outbox: written with the change it announces, gone once answered 2xx.
create table webhook_events (
  bucket smallint not null,
  msg_id uuid not null,
  seq smallint not null,
  plan_id integer not null,
  holder integer,
  attempt smallint not null default 0,
  due_at timestamptz not null,
  status message_status,
  error_code text not null default '000',
  mccmnc text,
  price numeric(14, 6),
  ptf numeric(14, 6),
  currency text,
  sent_at timestamptz,
  occurred_at timestamptz not null,
  primary key (bucket, msg_id, seq)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
        autovacuum_vacuum_insert_threshold = -1, autovacuum_vacuum_cost_delay = 0);
create index webhook_events_waiting on webhook_events (due_at) where holder is null;
comment on column webhook_events.seq is '0 for an inbound message; 1, 2, … for the status changes of an outbound one';

create table webhook_attempts (
  msg_id uuid not null,
  seq smallint not null,
  attempt smallint not null,
  plan_id integer not null,
  attempted_at timestamptz not null,
  latency_ms integer not null,
  response_status smallint,
  error text,
  response_head text,
  primary key (msg_id, seq, attempt)
) partition by range (msg_id);

create table idempotency_keys (
  plan_id integer not null,
  key_hash bytea not null,
  request_hash bytea not null,
  msg_id uuid not null,
  created_at timestamptz not null,
  primary key (plan_id, key_hash)
);
create index idempotency_keys_age on idempotency_keys (created_at);

-- Down Migration
-- None: an older Aldis runs on a newer schema only where a release says so.
