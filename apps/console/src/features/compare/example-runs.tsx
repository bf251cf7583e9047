import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { answered, api, type Schemas } from '../../api/client';
import { duration, middle, runName } from '../../ui/format';
import { List, Section } from '../../ui/list';
import { Text, Time } from '../../ui/parts';
import { Status } from '../../ui/status';

const MOST_RUNS = 20;
const STATUSES = {
  SUCCESS: { tone: 'ok', word: 'ok' },
  ERROR: { tone: 'bad', word: 'failed' },
  PENDING: { tone: 'busy', word: 'running' },
} as const;

type Run = Schemas['RunV2'];

/** The newest root runs on an example, in experiments and projects alike, and the run that it was made of. */
export function ExampleRuns({ example, source }: { example: string; source: string | undefined }) {
  const { w } = useParams({ from: '/o/$w' });
  const runs = useRuns(w, { reference_examples: [example], is_root: true });
  const origin = useRuns(w, source === undefined ? undefined : { ids: [source] })?.[0];
  if (!runs || (runs.length === 0 && !origin)) return null;
  const params = ({ project_id, id }: Run) => ({ w, session: project_id!, run: id! });
  return (
    <Section
      title={runs.length === MOST_RUNS ? `The newest ${MOST_RUNS} runs on it` : 'Runs on it'}
      aside={
        origin && (
          <Link to="/o/$w/projects/p/$session/r/$run" params={params(origin)}>
            The run it was made of
          </Link>
        )
      }
    >
      {runs.length > 0 && (
        <List
          label="Runs on it"
          items={runs}
          keyOf={({ id }) => id!}
          columns={[
            {
              title: 'Name',
              kind: 'name',
              cell: (run) => (
                <Link to="/o/$w/projects/p/$session/r/$run" params={params(run)}>
                  <Text title={run.name?.slice(0, 1000)}>{middle(runName(run.name, 'Run'), 80)}</Text>
                </Link>
              ),
            },
            {
              title: 'Status',
              cell: ({ status }) => {
                const { tone, word } = STATUSES[status ?? 'PENDING'];
                return <Status tone={tone}>{word}</Status>;
              },
            },
            { title: 'Latency', kind: 'number', cell: ({ latency_seconds: seconds }) => duration(seconds) },
            { title: 'Started', kind: 'number', cell: ({ start_time: at }) => at && <Time at={at} /> },
          ]}
        />
      )}
    </Section>
  );
}

/** The newest runs that fulfil a condition; undefined until they are there, and without one. */
function useRuns(w: string, wanted: Partial<Schemas['QueryRunsRequestBody']> | undefined) {
  return useQuery({
    queryKey: ['run', w, 'of example', wanted],
    queryFn: async ({ signal }) => {
      const selects = ['ID', 'NAME', 'STATUS', 'START_TIME', 'LATENCY_SECONDS', 'PROJECT_ID'];
      const body = { ...wanted, selects, page_size: MOST_RUNS } as Schemas['QueryRunsRequestBody'];
      return (await answered(api.POST('/v2/runs/query', { body, signal }))).items;
    },
    enabled: wanted !== undefined,
  }).data;
}
