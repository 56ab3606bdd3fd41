-- 0004: what paused threads wait for, and the events that end or inform a wait
-- transaction: yes

CREATE TABLE dragoman_ledger.waits (
    id text PRIMARY KEY,
    number bigint GENERATED ALWAYS AS IDENTITY,
    thread_id text NOT NULL REFERENCES dragoman_ledger.threads ON DELETE CASCADE,
    step text NOT NULL,
    sequence integer NOT NULL CHECK (sequence >= 0),
    kind text NOT NULL CHECK (kind IN ('approval', 'question', 'job', 'transfer', 'until')),
    site text,
    subject jsonb NOT NULL,
    due_at timestamptz,
    opened_at timestamptz NOT NULL,
    closed_at timestamptz,
    has_event boolean NOT NULL DEFAULT false
) WITH (fillfactor = 80);
CREATE INDEX waits_of_thread ON dragoman_ledger.waits (thread_id);
CREATE INDEX waits_open ON dragoman_ledger.waits (kind, site) WHERE closed_at IS NULL;
CREATE INDEX waits_of_sites ON dragoman_ledger.waits (site)
    WHERE closed_at IS NULL AND site IS NOT NULL AND kind IN ('job', 'transfer');
CREATE INDEX waits_to_take ON dragoman_ledger.waits (thread_id) WHERE closed_at IS NULL AND has_event;
CREATE INDEX waits_due ON dragoman_ledger.waits (due_at)
    WHERE closed_at IS NULL AND NOT has_event AND due_at IS NOT NULL;

CREATE TABLE dragoman_ledger.events (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    wait_id text NOT NULL REFERENCES dragoman_ledger.waits ON DELETE CASCADE,
    key text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('job', 'transfer', 'answer', 'time', 'cancel')),
    payload jsonb NOT NULL,
    by text NOT NULL,
    at timestamptz NOT NULL,
    UNIQUE (wait_id, key)
);
CREATE UNIQUE INDEX events_one_answer ON dragoman_ledger.events (wait_id) WHERE kind = 'answer';

CREATE FUNCTION dragoman_ledger.wake_thread() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE dragoman_ledger.waits SET has_event = true WHERE id = NEW.wait_id AND NOT has_event;
    PERFORM pg_notify('dragoman', thread_id) FROM dragoman_ledger.waits WHERE id = NEW.wait_id;
    RETURN NULL;
END
$$;
CREATE TRIGGER event_added AFTER INSERT ON dragoman_ledger.events
    FOR EACH ROW EXECUTE FUNCTION dragoman_ledger.wake_thread();

-- A wish to cancel may come while a node is between its last look and its wait. The first wait opened after it gets
-- the cancel event at once; later ones do not, or a thread that waits for its cancelled job would never sleep again.
CREATE FUNCTION dragoman_ledger.tell_of_cancel() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO dragoman_ledger.events (wait_id, key, kind, payload, by, at)
    SELECT NEW.id, 'cancel', 'cancel', '{}', t.cancel_requested_by, clock_timestamp()
    FROM dragoman_ledger.threads t
    WHERE t.thread_id = NEW.thread_id AND t.cancel_requested_by <> ''
        AND NOT EXISTS (
            SELECT FROM dragoman_ledger.waits w JOIN dragoman_ledger.events e ON e.wait_id = w.id
            WHERE w.thread_id = NEW.thread_id AND e.kind = 'cancel'
        );
    RETURN NULL;
END
$$;
CREATE TRIGGER wait_opened AFTER INSERT ON dragoman_ledger.waits
    FOR EACH ROW EXECUTE FUNCTION dragoman_ledger.tell_of_cancel();
