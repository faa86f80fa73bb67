-- Up Migration

-- Rates and number ranges may be 200,000 each: nodes read them anew only when they have changed themselves.
alter table directory_version add column bulk_version bigint not null default 1;
comment on column directory_version.bulk_version is 'raised, with version, by every change of rates and number_ranges';

create function raise_bulk_version() returns trigger language plpgsql as
$$ begin
  update directory_version set version = version + 1, bulk_version = bulk_version + 1;
  return null;
end $$;

drop trigger directory on rates;
drop trigger directory on number_ranges;
create trigger directory after insert or update or delete on rates
  for each statement execute function raise_bulk_version();
create trigger directory after insert or update or delete on number_ranges
  for each statement execute function raise_bulk_version();

-- Down Migration
-- None: an older Aldis runs on a newer schema only where a release says so.
