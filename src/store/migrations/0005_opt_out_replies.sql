-- Up Migration

alter table opt_outs add column confirmation uuid;
comment on column opt_outs.confirmation is 'latest answer to the person: goes out all the same';

-- Down Migration
-- None: an older Aldis runs on a newer schema only where a release says so.
