-- 0005: who looks at which site for all threads
-- transaction: yes

CREATE TABLE dragoman_ledger.site_watches (
    site text NOT NULL,
    identity text NOT NULL,
    holder text NOT NULL DEFAULT '',
    lease_until timestamptz,
    next_look_at timestamptz,
    interval_s double precision NOT NULL DEFAULT 2 CHECK (interval_s > 0),
    failures integer NOT NULL DEFAULT 0 CHECK (failures >= 0),
    last_ok_at timestamptz,
    error text NOT NULL DEFAULT '',
    PRIMARY KEY (site, identity)
);
