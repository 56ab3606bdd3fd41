-- 0007: a site is looked at sooner when a job told of its end or a new one is awaited, never sooner than its bound
-- transaction: yes

ALTER TABLE dragoman_ledger.site_watches
    ADD COLUMN least_s double precision NOT NULL DEFAULT 2 CHECK (least_s > 0),
    ADD COLUMN looked_at timestamptz,
    -- Asked for while a look was under way, which may have missed what happened.
    ADD COLUMN hastened boolean NOT NULL DEFAULT false;

-- A site that gives no answers is left its growing pauses.
CREATE FUNCTION dragoman_ledger.hasten_watch(awaited_site text) RETURNS void LANGUAGE sql AS $$
    UPDATE dragoman_ledger.site_watches SET
        hastened = lease_until > clock_timestamp(),
        interval_s = least_s,
        next_look_at = least(
            next_look_at, greatest(clock_timestamp(), looked_at + make_interval(secs => least_s))
        )
    WHERE site = awaited_site AND failures = 0
$$;

CREATE FUNCTION dragoman_ledger.hasten_for_wait() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM dragoman_ledger.hasten_watch(NEW.site);
    RETURN NULL;
END
$$;
CREATE TRIGGER wait_hastens AFTER INSERT ON dragoman_ledger.waits
    FOR EACH ROW WHEN (NEW.site IS NOT NULL AND NEW.kind IN ('job', 'transfer'))
    EXECUTE FUNCTION dragoman_ledger.hasten_for_wait();
