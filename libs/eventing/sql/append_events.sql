-- Appends to several streams in one commit; each append is judged by its own expected version (-1: any).
-- Several appends to one stream follow each other; all of them but the first must be at any version, with ids that
-- no other one has. Events name their append by its place (1-based) in `streams`.
-- Invariant: the lock is held until the commit is visible, so positions appear in commit order and without
-- holes, and a reader that has seen position n has seen everything before it.
create or replace function append_events(
  streams text[], expected int[], append_metadata text[],
  event_append int[], event_offset int[], event_id uuid[], event_type text[], event_data text[]
) returns table (append int, outcome text, version int, "position" bigint, "time" timestamptz)
language plpgsql
set enable_seqscan = off
as $$
declare
  head bigint;
  now_ timestamptz;
begin
  perform pg_advisory_xact_lock(7_238_811_045);
  now_ := date_trunc('milliseconds', clock_timestamp());
  select coalesce((select e."position" from events e order by e."position" desc limit 1), 0) into head;

  return query
  with request as materialized (
    select r.stream, r.expected, r.metadata, r.n::int as n,
           coalesce((select e.version from events e where e.stream = r.stream order by e.version desc limit 1), 0) as current
    from unnest(streams, expected, append_metadata) with ordinality as r(stream, expected, metadata, n)
  ), event as materialized (
    select * from unnest(event_append, event_offset, event_id, event_type, event_data) as e(n, nth, id, type, data)
  ), judged as materialized (
    select r.*, seen.version as seen_version, seen."position" as seen_position, seen."time" as seen_time
    from request r
    join event first on first.n = r.n and first.nth = 1
    left join lateral (
      select last.version, last."position", last."time"
      from event e join events last on last.id = e.id
      where e.n = r.n and exists (select from events f where f.id = first.id and f.stream = r.stream)
      order by last."position" desc limit 1
    ) seen on true
  ), placed as materialized (
    select e.*, j.stream, j.metadata, head + row_number() over (order by e.n, e.nth) as place,
           j.current + row_number() over (partition by j.stream order by e.n, e.nth)::int as version
    from event e join judged j on j.n = e.n
    where j.seen_version is null and (j.expected = -1 or j.expected = j.current)
  ), inserted as (
    insert into events ("position", stream, version, id, type, data, metadata, "time")
    select p.place, p.stream, p.version, p.id, p.type, p.data::json, p.metadata::json, now_ from placed p order by p.place
  ), written as (
    select p.n, max(p.version) as version, max(p.place) as "position" from placed p group by p.n
  )
  select j.n,
         case when j.seen_version is not null then 'repeated' when w.version is not null then 'appended' else 'conflict' end,
         coalesce(j.seen_version, w.version, j.current), coalesce(j.seen_position, w."position"), coalesce(j.seen_time, now_)
  from judged j left join written w on w.n = j.n;

  perform pg_notify('events', (select coalesce(max(e."position"), 0) from events e)::text);
end
$$;
