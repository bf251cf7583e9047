import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Problem, Text } from '../../../ui/parts';
import { spans } from './ansi';
import { useWorkspace } from '../data';
import css from '../deployments.module.css';
import { type LogChoice, readLog } from './log-lines';

const MOST = 3;
const LONGEST = 500;
/** A program that fails again and again writes more. */
const AGAIN_MS = 15_000;

/**
 * Lines of a log that say why something has failed, each with a link to its place: the first errors, the last errors of a
 * program, or else the last lines.
 */
export function FirstErrors({ choice }: { choice: LogChoice }) {
  const w = useWorkspace();
  const { deployment, revision, phase } = choice;
  const found = useQuery({
    queryKey: ['deployment', w, deployment, 'errors', revision, phase],
    refetchInterval: AGAIN_MS,
    queryFn: async ({ signal }) => {
      const isProgram = phase === 'run';
      const order = isProgram ? 'desc' : 'asc';
      const { logs } = await readLog({ ...choice, level: 'ERROR' }, { order, limit: MOST }, signal);
      if (logs.length > 0) return isProgram ? logs.reverse() : logs;
      return (await readLog(choice, { order: 'desc', limit: MOST }, signal)).logs.reverse();
    },
  });
  if (found.error && !found.data) return <Problem error={found.error} retry={() => void found.refetch()} />;
  if (!found.data || found.data.length === 0) return null;
  return (
    <ul className={css.errors} aria-label="Lines of the log">
      {found.data.map(({ id, timestamp, message }) => (
        <li key={id}>
          <Link to="." search={(() => ({ tab: 'logs', revision, log: phase, line: id })) as never} title={timestamp}>
            <Text>
              {spans(message.slice(0, LONGEST))
                .map(({ text }) => text)
                .join('')}
            </Text>
          </Link>
        </li>
      ))}
    </ul>
  );
}
