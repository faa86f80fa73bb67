-- Up Migration

-- National language identifiers of the part's user data header (3GPP 23.038); null: the default tables.
alter table inbound_parts add column locking_shift smallint, add column single_shift smallint;

-- Down Migration
-- None: an older Aldis runs on a newer schema only where a release says so.
