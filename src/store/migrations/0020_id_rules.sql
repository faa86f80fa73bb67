-- Up Migration

-- What it takes to read a parked receipt again under another id rule than the one it was parked under.
alter table parked_receipts add column receipted_id text, add column id_rule text;
comment on column parked_receipts.receipted_id is 'the id as the receipt has it, where carrier_message_id is another';
comment on column parked_receipts.id_rule is 'rule under which the id was read into carrier_message_id; auto: not read yet';
update parked_receipts p
set id_rule = case when p.unread then 'auto' else coalesce(nullif(c.id_rule, 'auto'), c.learned_id_rule, 'normalised') end
from carriers c where c.id = p.carrier_id;
drop index parked_receipts_unread;
create index parked_receipts_rule on parked_receipts (carrier_id, id_rule, received_at);

-- `exact` was the default. A carrier of which no message was delivered under it in 8 days learns its rule.
alter table carriers alter column id_rule set default 'auto';
update carriers c set id_rule = 'auto'
where id_rule = 'exact' and not exists (select from quality_minutes where carrier_id = c.id and delivered > 0);

-- Down Migration
-- None: an older Aldis runs on a newer schema only where a release says so.
