-- Up Migration

-- A node whose lease has ended may still live: it knows which of the messages it held were never begun.
alter table dispatches add column released_from integer;
comment on column dispatches.released_from is
  'node that held it when that node''s lease ended; null once a node has taken it up or given it back';

-- Down Migration
-- None: an older Aldis runs on a newer schema only where a release says so.
