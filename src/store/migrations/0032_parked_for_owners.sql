-- Up Migration

-- Whoever has a message in progress finds what was parked for it.
alter table parked_receipts add column msg_id uuid;
comment on column parked_receipts.msg_id is 'its message, where a lane had that in progress; null: not known';
