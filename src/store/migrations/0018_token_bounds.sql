-- Tokens may end by themselves and be limited to a part of the API.
alter table tokens
  add column expires_at timestamptz,
  add column scopes text[] constraint tokens_scopes
    check (scopes <@ array['send', 'read', 'webhooks'] and cardinality(scopes) > 0);
comment on column tokens.expires_at is 'refused from then on; null: never';
comment on column tokens.scopes is 'what the token may do; null: everything';
