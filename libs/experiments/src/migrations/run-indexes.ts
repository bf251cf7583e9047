import { Indexes, Migration } from '@fairlead/postgres';

/** Name of the thread that a run says in its metadata that it is of, by one of the members that the SDKs use. */
export class RunThreads1764900066000 extends Migration {
  readonly statements = [
    String.raw`create function thread_of(extra text) returns text language plpgsql immutable strict parallel safe as $$
     declare
       metadata jsonb;
     begin
       -- Most runs name none, which is seen without reading their JSON.
       if extra !~ '_id|\\u' then
         return null;
       end if;
       -- Indexes are built and analysed with a search path that has no schema of ours.
       metadata := public.searchable_json(extra) -> 'metadata';
       return coalesce(metadata ->> 'session_id', metadata ->> 'thread_id', metadata ->> 'conversation_id');
     end $$`,
  ];
}

/** Places up to which large sessions are counted anew, which takes several transactions. */
export class TraceRecounts1764900066050 extends Migration {
  readonly statements = [
    `create table trace_recounts (
        tenant_id uuid not null,
        session_id uuid not null,
        statistics text not null,
        start_time timestamptz not null,
        id uuid not null,
        primary key (tenant_id, session_id)
      )`,
  ];
}

/**
 * Orders in which the traces of a project, those that failed, the turns of a thread and the runs of a trace are read. The
 * name of a thread may be longer than an index allows, so that its first characters are the key.
 */
export class RunIndexes1764900066100 extends Indexes {
  readonly indexes = {
    runs_roots: 'runs (tenant_id, session_id, start_time, id) where parent_run_id is null',
    runs_failed_roots: "runs (tenant_id, session_id, start_time, id) where parent_run_id is null and status = 'error'",
    runs_by_thread: `runs (tenant_id, session_id, left(thread_of(extra), 200), start_time, id)
      where parent_run_id is null and thread_of(extra) is not null`,
    runs_of_trace: 'runs (tenant_id, trace_id, start_time, id) where trace_id is not null',
  };
  override readonly replaced = ['runs_by_trace'];
}

/** Revision of a deployment that a run says in its metadata that it is of; the SDKs take it from `LANGCHAIN_REVISION_ID`. */
export class RunRevisions1764900072000 extends Migration {
  readonly statements = [
    String.raw`create function revision_of(extra text) returns text language plpgsql immutable strict parallel safe as $$
     begin
       -- As in thread_of.
       if extra !~ 'revision_id|\\u' then
         return null;
       end if;
       return left(public.searchable_json(extra) -> 'metadata' ->> 'revision_id', 100);
     end $$`,
  ];
}

/** Order in which the live runs of a revision are read. Runs on examples belong to experiments, which name theirs. */
export class RunsOfRevisions1764900072100 extends Indexes {
  readonly indexes = {
    runs_of_revision: `runs (tenant_id, revision_of(extra), start_time, id)
      where parent_run_id is null and example_id is null and revision_of(extra) is not null`,
  };
}
