import { useQuery } from '@tanstack/react-query';
import { answered, api, type Schemas } from '../../../api/client';
import { whole } from '../../../ui/format';
import { useWorkspace } from '../data';
import { type LogChoice, readLog } from './log-lines';
import css from './logs.module.css';

const LOOK_MS = 15_000;
const [WIDTH, HEIGHT, BINS] = [600, 40, 60];

type Counts = Schemas['LogCounts'];

interface HistogramProps {
  readonly choice: LogChoice;
  /** Goes to a line. */
  readonly onLine: (id: string) => void;
}

/** The lines of a log over time, errors in their own colour; a press goes to the first line of that time. */
export function Histogram({ choice, onLine }: HistogramProps) {
  const w = useWorkspace();
  const { deployment, revision, phase } = choice;
  const { data } = useQuery({
    queryKey: ['deployment', w, deployment, 'log counts', phase, revision],
    queryFn: ({ signal }) => {
      const query = { phase, revision_id: revision, bins: BINS };
      const params = { path: { deployment_id: deployment }, query };
      return answered(api.GET('/v2/deployments/{deployment_id}/log_counts', { params, signal }));
    },
    refetchInterval: LOOK_MS,
    retry: false,
  });
  if (!data || data.from === null || data.to === null || data.from === data.to) return null;
  const [from, to] = [Date.parse(data.from), Date.parse(data.to)];
  const most = Math.max(...data.bins.map(({ lines }) => lines));
  const go = async (share: number) => {
    const { logs } = await readLog(choice, { order: 'asc', limit: 1, start_time: timeAt(data, share) });
    if (logs[0]) onLine(logs[0].id);
  };
  const sum = (member: 'lines' | 'errors') => data.bins.reduce((total, bin) => total + bin[member], 0);
  const bar = WIDTH / BINS;
  return (
    <svg
      className={css.histogram}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${whole(sum('lines'))} lines over time, ${whole(sum('errors'))} of them errors`}
      onClick={({ clientX, currentTarget }) => {
        const { left, width } = currentTarget.getBoundingClientRect();
        void go((clientX - left) / width);
      }}
    >
      {data.bins.map(({ at, lines, errors }) => {
        const x = Math.round(((Date.parse(at) - from) / (to - from)) * BINS) * bar;
        const [all, bad] = [lines, errors].map((count) => (count / most) * HEIGHT) as [number, number];
        return (
          <g key={at}>
            <title>{`${at}: ${whole(lines)} lines, ${whole(errors)} errors`}</title>
            <rect x={x} y={HEIGHT - all} width={bar - 1} height={all} />
            {errors > 0 && <rect x={x} y={HEIGHT - bad} width={bar - 1} height={bad} className={css.errors} />}
          </g>
        );
      })}
    </svg>
  );
}

function timeAt({ from, to }: Counts, share: number): string {
  const [begin, end] = [Date.parse(from!), Date.parse(to!)];
  const bin = Math.floor(share * BINS) / BINS;
  return new Date(begin + (end - begin) * Math.min(1, Math.max(0, bin))).toISOString();
}
