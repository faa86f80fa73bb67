-- Up Migration

-- A message is cut by its carrier's form and its plan's settings, both of which may change between two attempts.
alter table dispatches add column cut text, add column started_over boolean not null default false;
comment on column dispatches.cut is 'how the submitted segments were cut: only a message cut alike can go on after them';
comment on column dispatches.started_over is 'cut otherwise, parts of it were sent again';

-- Down Migration
-- None: an older Aldis runs on a newer schema only where a release says so.
