-- Up Migration

-- Made again, to be the newest: on an empty table all indexes cost the same to the planner, and it takes that one.
alter table parked_receipts drop constraint parked_receipts_pkey, add primary key (carrier_id, carrier_message_id, id);
alter table inbound_offers drop constraint inbound_offers_pkey, add primary key (carrier_id, fingerprint, offer_id);
alter table quality_minutes drop constraint quality_minutes_pkey, add primary key (route_id, carrier_id, minute);

-- Down Migration
-- None: an older Aldis runs on a newer schema only where a release says so.
