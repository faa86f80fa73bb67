-- Up Migration

-- Nodes read on in what others park. A receipt may be parked long after it came.
alter table parked_receipts add column parked_at timestamptz not null default clock_timestamp();
create index parked_receipts_order on parked_receipts (parked_at);
-- The key stays the newest index (docs/adr/0006).
alter table parked_receipts drop constraint parked_receipts_pkey, add primary key (carrier_id, carrier_message_id, id);
comment on column parked_receipts.parked_at is 'by the clock of the database';

-- Down Migration
-- None: an older Aldis runs on a newer schema only where a release says so.
