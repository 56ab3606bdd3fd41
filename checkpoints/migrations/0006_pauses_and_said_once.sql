-- 0006: a failed thread rests before its next try; a line that a replay says again is kept once
-- transaction: yes

ALTER TABLE dragoman_ledger.threads ADD COLUMN next_try_at timestamptz;

ALTER TABLE dragoman_ledger.timeline ADD COLUMN key text;
CREATE UNIQUE INDEX timeline_once ON dragoman_ledger.timeline (thread_id, key) WHERE key IS NOT NULL;
