-- 0008: a watch that nobody holds can be hastened too
-- transaction: yes

CREATE OR REPLACE FUNCTION dragoman_ledger.hasten_watch(awaited_site text) RETURNS void LANGUAGE sql AS $$
    UPDATE dragoman_ledger.site_watches SET
        hastened = coalesce(lease_until > clock_timestamp(), false),
        interval_s = least_s,
        next_look_at = least(
            next_look_at, greatest(clock_timestamp(), looked_at + make_interval(secs => least_s))
        )
    WHERE site = awaited_site AND failures = 0
$$;
