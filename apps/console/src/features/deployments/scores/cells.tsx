import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { plain, whole } from '../../../ui/format';
import { Text } from '../../../ui/parts';
import { useWorkspace } from '../data';
import { type Revision, revisionName } from '../words';
import { type Scores, scoreTexts, type Source, sourceName, toldOf, usageTexts } from './figures';
import css from './scores.module.css';

interface CellProps {
  readonly revision: Revision;
  /** Undefined until they are known. */
  readonly scores: Scores | undefined;
}

/** The scores of a revision in two short lines. */
export function ScoresCell({ revision, scores }: CellProps) {
  const { scored } = scores ? toldOf(scores) : {};
  if (!scores || !scored) return <Lines first={[scores && '–']} />;
  const { named, all, others } = scoreTexts(scored.of);
  return (
    <Lines
      title={all.join(', ')}
      first={named.length > 0 ? named.map((one) => <Text key={one}>{one}</Text>) : ['no scores']}
      second={[
        <SourceLink key="source" revision={revision} scores={scores} source={scored} />,
        others > 0 && `${whole(others)} more score${others === 1 ? '' : 's'}`,
      ]}
    />
  );
}

/** Latency, errors, tokens and cost of the runs of a revision in two short lines. */
export function RunsCell({ revision, scores }: CellProps) {
  const { used } = scores ? toldOf(scores) : {};
  if (!scores || !used) return <Lines first={[scores && '–']} />;
  const { latency, errors, tokens, cost } = usageTexts(used.of);
  return (
    <Lines
      first={[
        used.kind === 'live' ? (
          <SourceLink key="source" revision={revision} scores={scores} source={used} />
        ) : (
          `${whole(used.of.runs)} runs`
        ),
        latency,
        `${errors} errors`,
      ]}
      second={[
        used.of.total_tokens !== null && `${tokens} tokens a run`,
        used.of.total_cost !== null && `cost ${cost}`,
      ]}
    />
  );
}

/** Two lines of short texts, whose place is kept while they are not known. */
function Lines({
  first,
  second = [],
  title,
}: {
  first: readonly ReactNode[];
  second?: readonly ReactNode[];
  title?: string;
}) {
  return (
    <span className={css.lines} title={title && plain(title)}>
      {[first, second].map((parts, line) => (
        <span key={line}>
          {parts.map((part, at) => part !== false && part !== undefined && <span key={at}>{part}</span>)}
        </span>
      ))}
    </span>
  );
}

interface SourceLinkProps {
  readonly revision: { readonly id: string; readonly number?: number };
  readonly scores: Scores;
  readonly source: Source;
}

/** Leads to the experiments or the live runs of a revision. */
export function SourceLink({ revision, scores, source }: SourceLinkProps) {
  const w = useWorkspace();
  const name = sourceName(source, scores.evaluated.experiments);
  const label = `${source.kind === 'live' ? 'Runs' : 'Experiments'} of ${revisionName(revision)}: ${name}`;
  if (source.kind === 'experiments') {
    return (
      <Link
        to="/o/$w/experiments"
        params={{ w }}
        search={{ metadata: JSON.stringify({ revision_id: revision.id }) }}
        aria-label={label}
      >
        {name}
      </Link>
    );
  }
  return (
    <Link
      to="/o/$w/projects/p/$session"
      params={{ w, session: scores.live.project_id! }}
      search={{ metadata: `revision_id=${revision.id}` }}
      aria-label={label}
    >
      {name}
    </Link>
  );
}
