import { useQuery } from '@tanstack/react-query';
import { answered, api, type Schemas } from '../../api/client';
import { Problem } from '../../ui/parts';
import css from './connections.module.css';
import { CreateDialog, type FormField, type Values } from './parts';

type Monitor = Schemas['Monitor'];

const MOST_PROJECTS = 50;
/** Names of the measures. */
export const MEASURES: Readonly<Record<Monitor['measure'], string>> = {
  ...{ error_rate: 'Error rate', cost: 'Cost', latency_p50: 'Latency p50', latency_p99: 'Latency p99' },
  score: 'Mean of a score',
};

/** Fields of what can be changed later, filled with what a monitor has. */
function limits(monitor?: Monitor): readonly FormField[] {
  const { threshold, recovery_threshold, window_minutes = 60, looks = 3, min_runs = 20 } = monitor ?? {};
  return [
    {
      name: 'threshold',
      label: 'Threshold',
      hint: 'A rate from 0 to 1, seconds, a cost, or a score.',
      first: String(threshold ?? ''),
    },
    {
      name: 'recovery_threshold',
      label: 'Threshold to recover',
      hint: 'What alerts recovers when it is no longer beyond this one; without it, the threshold.',
      first: String(recovery_threshold ?? ''),
      optional: true,
    },
    { name: 'window_minutes', label: 'How far back it looks, in minutes', first: String(window_minutes) },
    { name: 'looks', label: 'Looks in a row that have to agree', first: String(looks) },
    { name: 'min_runs', label: 'Runs without which a look says nothing', first: String(min_runs) },
  ];
}

/** The values of the fields of `limits` as the API takes them. What is no number is refused in its words. */
function limitsOf({ threshold, recovery_threshold, window_minutes, looks, min_runs }: Values) {
  const number = (text = '') => (text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text);
  return {
    threshold: number(threshold),
    recovery_threshold: recovery_threshold!.trim() === '' ? null : number(recovery_threshold),
    ...{ window_minutes: number(window_minutes), looks: number(looks), min_runs: number(min_runs) },
  };
}

/** The dialog that adds a monitor. */
export function NewMonitor({ w, project, onClose }: { w: string; project: string | undefined; onClose: () => void }) {
  const projects = useQuery({
    queryKey: ['projects', w, 'of monitors'],
    queryFn: ({ signal }) => answered(api.GET('/v1/projects', { params: { query: { limit: MOST_PROJECTS } }, signal })),
  });
  if (projects.error) return <Problem error={projects.error} />;
  if (!projects.data) return null;
  const found = Object.fromEntries(projects.data.projects.map(({ id, name }) => [id, name]));
  const known = project === undefined || found[project] !== undefined ? found : { [project]: project, ...found };
  const isCut = projects.data.projects.length === MOST_PROJECTS;
  const send = (values: Values) => {
    const { name, project_id, measure, alerts_when, feedback_key } = values;
    const subject = { project_id, measure, alerts_when, ...(measure === 'score' && { feedback_key }) };
    return answered(api.POST('/v1/monitors', { body: { name, ...subject, ...limitsOf(values) } as never }));
  };
  return (
    <CreateDialog
      title="Add a monitor"
      stale={['monitors', w]}
      send={send}
      onClose={onClose}
      fields={[
        { name: 'name', label: 'Name' },
        {
          name: 'project_id',
          label: isCut ? `Project, of the first ${MOST_PROJECTS} (others: on their own pages)` : 'Project',
          options: known,
          first: project ?? Object.keys(known)[0],
        },
        { name: 'measure', label: 'What it looks at', options: MEASURES, first: 'error_rate' },
        { name: 'feedback_key', label: 'Key of the score', hint: 'For the mean of a score alone.', optional: true },
        {
          name: 'alerts_when',
          label: 'It alerts when the value is',
          options: { above: 'Above the threshold', below: 'Below the threshold' },
          first: 'above',
        },
        ...limits(),
      ]}
    />
  );
}

/** The dialog that changes a monitor: only what was changed in it is sent, so that nobody else's change is lost. */
export function ChangedMonitor({ w, monitor, onClose }: { w: string; monitor: Monitor; onClose: () => void }) {
  const send = ({ name, ...values }: Values) => {
    const wanted = Object.entries({ name, ...limitsOf(values) });
    const body = Object.fromEntries(wanted.filter(([member, value]) => value !== monitor[member as keyof Monitor]));
    const params = { path: { monitor_id: monitor.id } };
    return answered(api.PATCH('/v1/monitors/{monitor_id}', { params, body: body as never }));
  };
  return (
    <CreateDialog
      title={`Change ${monitor.name}`}
      action="Change"
      lead={
        <p className={css.quiet}>Its project and what it looks at stay as they are: add another monitor for others.</p>
      }
      stale={['monitors', w]}
      send={send}
      onClose={onClose}
      fields={[{ name: 'name', label: 'Name', first: monitor.name }, ...limits(monitor)]}
    />
  );
}
