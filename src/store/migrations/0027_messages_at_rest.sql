-- Up Migration

-- A message that comes back is taken out of its record: until it is written there again its lane knows better.
alter table messages add column lane integer;
comment on column messages.lane is 'the lane of the journal that has it in progress; null: it is at rest, and this is what it is';

-- Down Migration
-- None: an older Aldis runs on a newer schema only where a release says so.
