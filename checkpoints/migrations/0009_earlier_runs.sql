-- 0009: what an application's earlier requests were is found without reading all requests
-- transaction: yes

CREATE INDEX requests_by_content ON dragoman_ledger.requests USING gin (request jsonb_path_ops);
