import { useQuery } from '@tanstack/react-query';
import { Link, Navigate, useParams } from '@tanstack/react-router';
import { answered, api, readLossless } from '../../api/client';
import { ErrorPage } from '../../ui/error-page';
import { duration, percent, runName, whole } from '../../ui/format';
import { Facts, Section } from '../../ui/list';
import { Page, Problem, Skeleton, Text, Time, useTitle } from '../../ui/parts';
import { RefusedItems } from '../../ui/refused';
import { Share } from '../../ui/share';
import { RunParts } from './parts';
import css from './runs.module.css';

/** An experiment, which opens as a comparison of its own, or a project of traces. */
export function ProjectPage() {
  const { w, session: id } = useParams({ from: '/o/$w/projects/p/$session' });
  const project = useQuery({
    queryKey: ['project', w, id],
    queryFn: ({ signal }) =>
      answered(api.GET('/api/v1/sessions/{session_id}', { params: { path: { session_id: id } }, signal })),
  });
  useTitle(project.data?.name ?? 'Project');
  if (project.error && !project.data) {
    return (
      <ErrorPage error={project.error} thing="experiment or project" retry={() => void project.refetch()}>
        <Link to="/o/$w/experiments" params={{ w }}>
          All experiments
        </Link>
      </ErrorPage>
    );
  }
  if (!project.data) {
    return (
      <Page title="Project">
        <Skeleton />
      </Page>
    );
  }
  const { name, reference_dataset_id: dataset, run_count, error_rate, latency_p50, start_time } = project.data;
  if (dataset !== null) {
    const search = { selectedSessions: id };
    return <Navigate to="/o/$w/datasets/$dataset/compare" params={{ w, dataset }} search={search} replace />;
  }
  return (
    <Page title={<Text>{name}</Text>}>
      <Section title="Runs">
        <Facts
          facts={{
            Runs: whole(run_count ?? 0),
            Errors: percent(error_rate),
            'Median latency': duration(latency_p50),
            Started: <Time at={start_time} />,
          }}
        />
      </Section>
      <RefusedItems workspace={w} session={id} />
    </Page>
  );
}

/** One run: what went in, what came out. */
export function RunPage() {
  const { w, session, run: id } = useParams({ from: '/o/$w/projects/p/$session/r/$run' });
  const run = useQuery({
    queryKey: ['run', w, id],
    queryFn: ({ signal }) => readLossless(`/api/v1/runs/${encodeURIComponent(id)}`, signal),
  });
  const data = run.data as Record<string, unknown> | undefined;
  const name = runName(data?.name, 'Run');
  useTitle(name);
  if (run.error && !data) {
    return (
      <ErrorPage error={run.error} thing="run" retry={() => void run.refetch()}>
        <Link to="/o/$w/projects/p/$session" params={{ w, session }}>
          Its project
        </Link>
      </ErrorPage>
    );
  }
  return (
    <Page
      title={
        <>
          <Link to="/o/$w/projects/p/$session" params={{ w, session }} className={css.crumb}>
            Project
          </Link>{' '}
          <span className={css.slash}>/</span> <Text>{name}</Text>
        </>
      }
      aside={data && !data.replaced_by && <Share what={{ kind: 'run', run_id: id }} />}
    >
      {run.error && <Problem error={run.error} retry={() => void run.refetch()} />}
      {!data && <Skeleton />}
      {typeof data?.replaced_by === 'string' && (
        <>
          <p role="note">This run failed and was replaced when its row was filled.</p>
          <p>
            <Link to="/o/$w/projects/p/$session/r/$run" params={{ w, session, run: data.replaced_by }}>
              Show the run that replaced it
            </Link>
          </p>
        </>
      )}
      {data && <RunParts run={data} />}
    </Page>
  );
}
