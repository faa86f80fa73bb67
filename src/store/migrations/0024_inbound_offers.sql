-- Up Migration

-- Inbound PDUs that were recorded and whose answer the carrier may not have read: it may offer them again. A row is written
-- with its message, or its part of one, and goes when the answer is known to have arrived.
create table inbound_offers (
  carrier_id integer not null,
  fingerprint bytea not null,
  offer_id uuid not null,
  holder integer,
  offered_at timestamptz not null,
  primary key (carrier_id, fingerprint, offer_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
        autovacuum_vacuum_insert_threshold = -1, autovacuum_vacuum_cost_delay = 0);
create index inbound_offers_age on inbound_offers (offered_at);
comment on table inbound_offers is 'recorded PDUs that their carrier may offer again';
comment on column inbound_offers.fingerprint is 'of addresses, data_coding, esm_class, octets and TLVs';
comment on column inbound_offers.holder is 'node whose link it came over and that knows how it was answered; null: nobody knows';

-- Down Migration
-- None: an older Aldis runs on a newer schema only where a release says so.
