-- Up Migration

-- Rates and number ranges may be 200,000 each: nodes read them anew only when they have changed themselves.
alter table directory_version add column bulk_version bigint not null default 1;
comment on column directory_version.bulk_version is 'raised, with version, by every change of rates and number_ranges';

create function raise_bulk_version() returns trigger language plpgsql as
$$ begin
  if exists (select from changed) then
    update directory_version set version = version + 1, bulk_version = bulk_version + 1;
  end if;
  return null;
end $$;

-- Only where rows changed: removing a plan removes its rates too, though it has none.
do $$
declare name text;
begin
  foreach name in array array['rates', 'number_ranges']
  loop
    execute format('drop trigger directory on %I', name);
    execute format('create trigger directory_insert after insert on %I referencing new table as changed
                    for each statement execute function raise_bulk_version()', name);
    execute format('create trigger directory_update after update on %I referencing new table as changed
                    for each statement execute function raise_bulk_version()', name);
    execute format('create trigger directory_delete after delete on %I referencing old table as changed
                    for each statement execute function raise_bulk_version()', name);
  end loop;
end $$;

-- Down Migration
-- None: an older Aldis runs on a newer schema only where a release says so.
