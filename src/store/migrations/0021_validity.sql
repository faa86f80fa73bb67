-- Up Migration

-- A message's own end, and how carriers are told of it (validity_period of submit_sm).
alter table service_plans add column validity_seconds integer not null default 86400
  check (validity_seconds between 60 and 86400);
comment on column service_plans.validity_seconds is 'from acceptance until a message that no carrier took has failed';
alter table carriers
  add column validity_seconds integer check (validity_seconds between 60 and 86400),
  add column validity_format text not null default 'relative'
    check (validity_format in ('relative', 'absolute', 'none'));
comment on column carriers.validity_seconds is 'longest validity_period it is given; null: the message''s own end';

-- Down Migration
-- None: an older Aldis runs on a newer schema only where a release says so.
