-- Up Migration

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

-- Down Migration
-- None: an older Aldis runs on a newer schema only where a release says so.
