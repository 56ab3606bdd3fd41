-- 0002: what was asked, seen, proposed, decided and told in a thread
-- transaction: yes

CREATE TABLE dragoman_ledger.requests (
    thread_id text NOT NULL REFERENCES dragoman_ledger.threads ON DELETE CASCADE,
    round integer NOT NULL CHECK (round >= 0),
    request jsonb NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (thread_id, round)
);

CREATE TABLE dragoman_ledger.observations (
    thread_id text NOT NULL REFERENCES dragoman_ledger.threads ON DELETE CASCADE,
    id text NOT NULL,
    number bigint GENERATED ALWAYS AS IDENTITY,
    observation jsonb NOT NULL,
    PRIMARY KEY (thread_id, id)
);

CREATE TABLE dragoman_ledger.proposals (
    thread_id text NOT NULL REFERENCES dragoman_ledger.threads ON DELETE CASCADE,
    round integer NOT NULL CHECK (round >= 0),
    site text NOT NULL,
    proposal jsonb NOT NULL,
    PRIMARY KEY (thread_id, round, site)
);

CREATE TABLE dragoman_ledger.decisions (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    thread_id text NOT NULL REFERENCES dragoman_ledger.threads ON DELETE CASCADE,
    kind text NOT NULL,
    round integer NOT NULL CHECK (round >= 0),
    record jsonb NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    UNIQUE (thread_id, kind, round)
);

CREATE TABLE dragoman_ledger.timeline (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    thread_id text NOT NULL REFERENCES dragoman_ledger.threads ON DELETE CASCADE,
    step text NOT NULL,
    words text NOT NULL,
    data jsonb NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX timeline_of_thread ON dragoman_ledger.timeline (thread_id, number);
