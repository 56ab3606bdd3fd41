-- 0010: slow facts of sites outlive the process that asked
-- transaction: yes

CREATE TABLE dragoman_ledger.site_facts (
    site text NOT NULL,
    identity text NOT NULL,
    definition text NOT NULL,
    -- SHA-256 of provider, verb and arguments: arguments may be longer than an index takes.
    question text NOT NULL,
    arguments text NOT NULL,
    observation jsonb NOT NULL,
    observed_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (site, identity, definition, question)
);
CREATE INDEX site_facts_by_expiry ON dragoman_ledger.site_facts (expires_at);
