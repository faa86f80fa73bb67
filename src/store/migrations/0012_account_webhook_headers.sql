-- Up Migration

alter table accounts add column webhook_headers text;
comment on column accounts.webhook_headers is
  'what every webhook of the account carries beside our own headers: JSON, sealed with the secret key; null: nothing';

-- Down Migration
-- None: an older Aldis runs on a newer schema only where a release says so.
