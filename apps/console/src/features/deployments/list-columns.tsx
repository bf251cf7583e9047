import { Link } from '@tanstack/react-router';
import type { Column } from '../../ui/columns/list-columns';
import { middle } from '../../ui/format';
import { Text, Time } from '../../ui/parts';
import { Status } from '../../ui/status';
import { Artefact } from './artefact';
import { useWorkspace } from './data';
import css from './deployments.module.css';
import { hasPages, Open, type useOpening } from './open';
import { type Deployment, revisionName, SOURCES } from './words';

/** The columns of a list of deployments. */
export function useColumns(
  items: readonly Deployment[],
  opening: ReturnType<typeof useOpening>,
): readonly Column<Deployment>[] {
  const w = useWorkspace();
  const actions = {
    title: 'Actions',
    kind: 'end',
    cell: (one: Deployment) => hasPages(one) && <Open kind="quiet" deployment={one} opening={opening} />,
  } as const;
  return [
    {
      title: 'Name',
      kind: 'name',
      cell: ({ id, name }) => (
        <Link to="/o/$w/host/deployments/$deployment" params={{ w, deployment: id }} title={name}>
          <Text>{middle(name, 56)}</Text>
        </Link>
      ),
    },
    {
      title: 'Status',
      cell: ({ standing, status, executor }) => (
        <Status wraps tone={standing!.tone} title={status}>
          {`${standing!.text}${executor === 'record' ? ', recorded' : ''}`}
        </Status>
      ),
    },
    { title: 'Live', cell: ({ standing }) => <Which revision={standing!.live} /> },
    { title: 'Latest revision', cell: ({ standing }) => <Which revision={standing!.latest} /> },
    {
      title: 'From',
      cell: ({ source, source_config: { repo_url: url } }) => (
        <Quiet title={url ?? undefined} text={url ? repository(url) : (SOURCES[source] ?? source)} />
      ),
    },
    {
      title: 'Type',
      cell: ({ source_config: { deployment_type: type }, agent }) => (
        <Quiet text={[type, agent && `${agent.agent_id} in ${agent.environment}`].filter(Boolean).join(', ')} />
      ),
    },
    {
      title: 'Address',
      hidden: true,
      cell: ({ source_config: { custom_url: url } }) => <Quiet title={url ?? undefined} text={middle(url ?? '', 48)} />,
    },
    { title: 'Traces', hidden: true, cell: ({ name, tracing_project: other }) => <Quiet text={other ?? name} /> },
    { title: 'Id', hidden: true, cell: ({ id }) => <code>{id}</code> },
    { title: 'Made', kind: 'number', hidden: true, cell: ({ created_at: at }) => <Time at={at} /> },
    { title: 'Changed', kind: 'number', cell: ({ updated_at: at }) => <Time at={at} /> },
    ...(items.some(hasPages) ? [actions] : []),
  ];
}

function Quiet({ title, text }: { title?: string; text: string }) {
  return (
    <span className={css.quiet} title={title}>
      {text !== '' && <Text>{middle(text, 64)}</Text>}
    </span>
  );
}

/** A revision that a sentence speaks of, by its number and its artefact. */
function Which({ revision }: { revision: NonNullable<Deployment['standing']>['live'] }) {
  if (!revision) return <span className={css.faint}>none yet</span>;
  return (
    <span className={css.inline}>
      {revisionName(revision)} <Artefact of={revision} />
    </span>
  );
}

function repository(url: string): string {
  return middle(url.replace(/^https?:\/\/[^/]+\//, '').replace(/\.git$/, ''), 36);
}
