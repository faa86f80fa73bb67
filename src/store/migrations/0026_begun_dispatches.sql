-- Up Migration

alter table dispatches add column begun boolean not null default true;
comment on column dispatches.begun is
  'its holder may have sent it: when that dies it is in doubt. Counts while there is a holder; false: it is still to be told';

-- Down Migration
-- None: an older Aldis runs on a newer schema only where a release says so.
