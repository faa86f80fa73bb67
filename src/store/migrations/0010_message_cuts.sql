-- Up Migration

-- What carriers say of parts that were cut otherwise than the message is now says nothing of the message.
alter table messages add column cut text;
alter table submissions add column cut text;
comment on column messages.cut is 'how it is cut since it started over: only segments cut alike count; null: it never did';
comment on column submissions.cut is 'how its message was cut, when that had started over';

-- Down Migration
-- None: an older Aldis runs on a newer schema only where a release says so.
