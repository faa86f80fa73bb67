-- Up Migration

-- Two sessions that are offered the same PDU at once both find nothing recorded: the turn lets one of them record it.
alter table inbound_offers add column turn integer;
update inbound_offers o set turn = n.turn
from (select carrier_id, fingerprint, offer_id,
             row_number() over (partition by carrier_id, fingerprint order by offer_id) as turn
      from inbound_offers) n
where o.carrier_id = n.carrier_id and o.fingerprint = n.fingerprint and o.offer_id = n.offer_id;
alter table inbound_offers alter column turn set not null;
create unique index inbound_offers_turn on inbound_offers (carrier_id, fingerprint, turn);
comment on column inbound_offers.turn is 'counts PDUs with the same contents, from the last that its recorder knew of';

-- Down Migration
-- None: an older Aldis runs on a newer schema only where a release says so.
