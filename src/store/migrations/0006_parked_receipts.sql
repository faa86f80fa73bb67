-- Up Migration

-- What a parked receipt needs when an id has been used again, or its carrier's id rule is not learned yet.
alter table parked_receipts
  add column addresses text[] not null default '{}',
  add column unread boolean not null default false;
create index parked_receipts_unread on parked_receipts (carrier_id, received_at) where unread;
comment on column parked_receipts.addresses is 'digits of its two addresses: the recipient of its message is one of them';
comment on column parked_receipts.unread is 'carrier_message_id is normalised only: the carrier''s id rule was not learned yet';

-- Down Migration
-- None: an older Aldis runs on a newer schema only where a release says so.
