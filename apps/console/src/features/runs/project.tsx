import { Link, Navigate, useParams } from '@tanstack/react-router';
import { Suspense } from 'react';
import { useDeploymentOf } from '../../api/project-links';
import { useProject } from '../../api/projects';
import { ErrorPage } from '../../ui/error-page';
import { duration, middle, percent, whole } from '../../ui/format';
import { late } from '../../ui/late';
import { Page, Skeleton, Text, useTitle } from '../../ui/parts';
import { RefusedItems } from '../../ui/refused';
import { RunsOverTime } from './runs-over-time';
import css from './runs.module.css';
import { TraceFilters } from './trace-filters';

const TraceList = late(async () => (await import('./trace-list')).TraceList);

/** An experiment, which opens as a comparison of its own, or the root runs of a project. */
export function ProjectPage() {
  const { w, session: id } = useParams({ from: '/o/$w/projects/p/$session' });
  const project = useProject(w, id);
  const isExperiment = project.data === undefined || project.data.reference_dataset_id !== null;
  const deployment = useDeploymentOf(w, isExperiment ? undefined : project.data!.name);
  useTitle(project.data?.name ?? 'Project');
  if (project.error && !project.data) {
    return (
      <ErrorPage error={project.error} thing="experiment or project" retry={() => void project.refetch()}>
        <Link to="/o/$w/projects" params={{ w }}>
          All projects
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
  const { name, reference_dataset_id: dataset, run_count, error_rate, latency_p50, latency_p99 } = project.data;
  if (dataset !== null) {
    const search = { selectedSessions: id };
    return <Navigate to="/o/$w/datasets/$dataset/compare" params={{ w, dataset }} search={search} replace />;
  }
  return (
    <Page
      fill
      title={
        <>
          <Link to="/o/$w/projects" params={{ w }} className={css.crumb}>
            Traces
          </Link>{' '}
          <span className={css.slash}>/</span> <Text title={name}>{middle(name, 80)}</Text>
        </>
      }
      aside={
        <span className={css.figures}>
          <Link to="/o/$w/monitors" params={{ w }} search={{ project: id }}>
            Monitors
          </Link>{' '}
          ·{' '}
          {deployment && (
            <>
              <Link to="/o/$w/host/deployments/$deployment" params={{ w, deployment: deployment.id }}>
                Deployment
              </Link>{' '}
              ·{' '}
            </>
          )}
          {whole(run_count ?? 0)} runs · {percent(error_rate)} errors · p50 {duration(latency_p50)} · p99{' '}
          {duration(latency_p99)}
        </span>
      }
    >
      <div className={css.refused}>
        <RefusedItems workspace={w} session={id} />
      </div>
      <RunsOverTime w={w} project={id} />
      <TraceFilters />
      <Suspense fallback={<Skeleton />}>
        <TraceList w={w} project={id} />
      </Suspense>
    </Page>
  );
}
