-- 0001: threads with their leases, the history of their status, and the one rule of who may write for a thread
-- transaction: yes

CREATE TABLE dragoman_ledger.threads (
    thread_id text PRIMARY KEY CHECK (octet_length(thread_id) BETWEEN 1 AND 512),
    title text NOT NULL,
    status text NOT NULL CHECK (status IN ('new', 'active', 'parked', 'done', 'poisoned')),
    master text NOT NULL CHECK (master IN ('direct', 'api')),
    graph text NOT NULL DEFAULT '',
    input jsonb NOT NULL,
    outcome text NOT NULL DEFAULT '',
    error text NOT NULL DEFAULT '',
    tries integer NOT NULL DEFAULT 0 CHECK (tries >= 0),
    -- Grows with every lease and never shrinks: what was begun under an older one is refused.
    epoch bigint NOT NULL DEFAULT 0 CHECK (epoch >= 0),
    lease_holder text NOT NULL DEFAULT '',
    lease_until timestamptz,
    cancel_requested_by text NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 80); -- room for lease renewals in the same page

-- However many threads are parked or done, these two indexes hold only those with something to do.
CREATE INDEX threads_new_or_left ON dragoman_ledger.threads (updated_at) WHERE status IN ('new', 'active');
CREATE INDEX threads_by_age ON dragoman_ledger.threads (created_at);
CREATE INDEX threads_by_prefix ON dragoman_ledger.threads (thread_id text_pattern_ops);

CREATE TABLE dragoman_ledger.thread_changes (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    thread_id text NOT NULL REFERENCES dragoman_ledger.threads ON DELETE CASCADE,
    status text NOT NULL,
    outcome text NOT NULL,
    error text NOT NULL,
    epoch bigint NOT NULL,
    lease_holder text NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX thread_changes_of_thread ON dragoman_ledger.thread_changes (thread_id, id);

CREATE FUNCTION dragoman_ledger.note_thread_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO dragoman_ledger.thread_changes (thread_id, status, outcome, error, epoch, lease_holder)
    VALUES (NEW.thread_id, NEW.status, NEW.outcome, NEW.error, NEW.epoch, NEW.lease_holder);
    PERFORM pg_notify('dragoman', NEW.thread_id);
    RETURN NULL;
END
$$;
CREATE TRIGGER thread_made AFTER INSERT ON dragoman_ledger.threads
    FOR EACH ROW EXECUTE FUNCTION dragoman_ledger.note_thread_change();
CREATE TRIGGER thread_changed AFTER UPDATE OF status ON dragoman_ledger.threads
    FOR EACH ROW WHEN (OLD.status IS DISTINCT FROM NEW.status)
    EXECUTE FUNCTION dragoman_ledger.note_thread_change();

-- Whether a process may write for a thread now. The row stays locked until the writing transaction ends, so that a
-- takeover comes wholly before the write, which is then refused, or wholly after it. Only the database's clock counts.
-- Without an epoch: threads that a LangGraph server owns, and threads that are not ours at all.
CREATE FUNCTION dragoman_ledger.may_write(written_thread text, held_epoch bigint) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    owner record;
BEGIN
    SELECT master, epoch, lease_until INTO owner
    FROM dragoman_ledger.threads WHERE thread_id = written_thread FOR SHARE;
    IF NOT FOUND THEN
        RETURN held_epoch IS NULL;
    ELSIF held_epoch IS NULL THEN
        RETURN owner.master = 'api';
    END IF;
    RETURN owner.master = 'direct' AND owner.epoch = held_epoch
        AND coalesce(owner.lease_until > clock_timestamp(), false);
END
$$;
