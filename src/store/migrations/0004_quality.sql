-- Up Migration

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
  receipt_latency integer[] not null check (cardinality(receipt_latency) = 18),
  primary key (route_id, carrier_id, minute)
) with (fillfactor = 60);
create index quality_minutes_minute on quality_minutes (minute);
comment on table quality_minutes is 'how a carrier did in a route: counts of all nodes, added up every few seconds';
comment on column quality_minutes.minute is 'of the answer to the submit_sm, or of the message''s sent_at';
comment on column quality_minutes.accepted is 'submit_sm, as refused, throttled, no_answer; sent and what follows: messages';
comment on column quality_minutes.submit_latency is 'answers by SUBMIT_LATENCY_BOUNDS_MS of domain/quality.ts';
comment on column quality_minutes.submit_latency_max is 'ms';
comment on column quality_minutes.receipt_latency is 'final receipts by RECEIPT_LATENCY_BOUNDS_MS';

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

-- Down Migration
-- None: an older Aldis runs on a newer schema only where a release says so.
