-- 0003: attempts, their jobs, and transfers; what may never be undone is refused by the tables themselves
-- transaction: yes

CREATE TABLE dragoman_ledger.attempts (
    tag text PRIMARY KEY,
    thread_id text NOT NULL REFERENCES dragoman_ledger.threads ON DELETE CASCADE,
    step text NOT NULL,
    number integer NOT NULL CHECK (number >= 0),
    site text NOT NULL,
    attempt jsonb NOT NULL,
    intended_at timestamptz NOT NULL,
    state text NOT NULL DEFAULT 'intended'
        CHECK (state IN ('intended', 'submitted', 'refused', 'in-doubt', 'abandoned')),
    job jsonb,
    answer text NOT NULL DEFAULT '',
    adopted boolean NOT NULL DEFAULT false,
    reason_class text NOT NULL DEFAULT 'unknown',
    recorded_at timestamptz,
    UNIQUE (thread_id, step, number),
    CONSTRAINT submitted_with_job CHECK (state <> 'submitted' OR job IS NOT NULL)
);
CREATE INDEX attempts_of_site ON dragoman_ledger.attempts (site);

CREATE FUNCTION dragoman_ledger.keep_job() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'attempt % has its job recorded, which is never replaced', OLD.tag
        USING ERRCODE = 'integrity_constraint_violation';
END
$$;
CREATE TRIGGER job_is_kept BEFORE UPDATE ON dragoman_ledger.attempts
    FOR EACH ROW WHEN (OLD.job IS NOT NULL AND (NEW.job IS DISTINCT FROM OLD.job OR NEW.state <> OLD.state))
    EXECUTE FUNCTION dragoman_ledger.keep_job();

-- Tags outlive their threads: a job or folder that carries one was ours, whenever it is met.
CREATE TABLE dragoman_ledger.past_tags (
    tag text PRIMARY KEY,
    site text NOT NULL
);
CREATE INDEX past_tags_of_site ON dragoman_ledger.past_tags (site);

CREATE FUNCTION dragoman_ledger.keep_tag() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO dragoman_ledger.past_tags (tag, site) VALUES (OLD.tag, OLD.site) ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
CREATE TRIGGER tag_is_kept AFTER DELETE ON dragoman_ledger.attempts
    FOR EACH ROW EXECUTE FUNCTION dragoman_ledger.keep_tag();

CREATE TABLE dragoman_ledger.jobs (
    tag text PRIMARY KEY REFERENCES dragoman_ledger.attempts ON DELETE CASCADE,
    state text NOT NULL,
    -- Place in the partial order of job states; 5 is final; null: never seen yet.
    place integer CHECK (place BETWEEN 0 AND 5),
    restarts integer,
    seen_at timestamptz,
    status jsonb NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE FUNCTION dragoman_ledger.keep_final_state() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'job of attempt % has ended as %, which is never replaced', OLD.tag, OLD.state
        USING ERRCODE = 'integrity_constraint_violation';
END
$$;
CREATE TRIGGER final_state_is_kept BEFORE UPDATE ON dragoman_ledger.jobs
    FOR EACH ROW WHEN (OLD.place = 5 AND NEW.state <> OLD.state)
    EXECUTE FUNCTION dragoman_ledger.keep_final_state();

CREATE TABLE dragoman_ledger.transfers (
    id text PRIMARY KEY,
    number bigint GENERATED ALWAYS AS IDENTITY,
    thread_id text NOT NULL REFERENCES dragoman_ledger.threads ON DELETE CASCADE,
    plan jsonb NOT NULL,
    status jsonb,
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX transfers_of_thread ON dragoman_ledger.transfers (thread_id, number);
