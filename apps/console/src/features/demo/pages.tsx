import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { type ComponentProps, Suspense, useState } from 'react';
import { look, type Made } from '../../../../cli/src/demo/look';
import { TASKS } from '../../../../cli/src/demo/next-steps';
import { request } from '../../api/request';
import { Action } from '../../ui/action';
import { ask } from '../../ui/ask';
import { late } from '../../ui/late';
import { Page, Problem, Skeleton, Text, useTitle } from '../../ui/parts';

// The story comes when it is told or taken back.
const Filling = late(async () => {
  const [{ Filling: Shown }, { storyOf }] = await Promise.all([
    import('./filling'),
    import('../../../../cli/src/demo/story'),
  ]);
  return (props: Omit<ComponentProps<typeof Shown>, 'tellStory'>) => <Shown tellStory={storyOf} {...props} />;
});

const KEY = 'demo';
const TEXT = { display: 'grid', gap: 16, justifyItems: 'start', maxWidth: '72ch' };
const TASKS_STYLE = { display: 'grid', gap: 8, paddingLeft: 24, lineHeight: '24px' };

/** An example that fills a workspace with something worth looking at, what to try with it, and its removal. */
export function DemoPage() {
  useTitle('Example');
  const { w } = useParams({ from: '/o/$w' });
  const queries = useQueryClient();
  const [work, setWork] = useState<'make' | 'remove'>();
  const [note, setNote] = useState<string>();
  const demo = useQuery({ queryKey: [KEY, w], queryFn: async ({ signal }) => (await look(reading(signal))) ?? null });
  const begin = (next: 'make' | 'remove') => {
    setNote(undefined);
    setWork(next);
  };
  const end = (said?: string) => {
    setWork(undefined);
    setNote(said);
    void queries.invalidateQueries();
  };
  const removal = async () => {
    const answer = await ask({
      title: 'Remove the example?',
      text: 'Its dataset, experiments, traces and deployment go. Nothing else does.',
      answers: { keep: 'Keep it', remove: 'Remove' },
      danger: true,
    });
    if (answer === 'remove') begin('remove');
  };
  const made = typeof demo.data === 'object' ? demo.data : undefined;
  return (
    <Page title="Example">
      <div style={TEXT}>
        {demo.error && <Problem error={demo.error} retry={() => void demo.refetch()} />}
        {demo.isPending && <Skeleton />}
        {note && (
          <p role="status">
            <Text>{note}</Text>
          </p>
        )}
        <Suspense>{work && <Filling what={work} onEnd={end} />}</Suspense>
        {!work && made && (
          <>
            <Story />
            <h2>What to try next</h2>
            <Tasks w={w} made={made} />
            <Action scope="write" onClick={() => void removal()}>
              Remove the example …
            </Action>
          </>
        )}
        {!work && demo.isSuccess && !made && (
          <>
            <Story />
            <p>
              It takes about half a minute. Everything carries a mark, and is removed in one step; nothing else of the
              workspace changes.
            </p>
            <Action kind="main" scope="write" onClick={() => begin('make')}>
              {demo.data === 'part' ? 'Go on with it' : 'Fill the workspace with it'}
            </Action>
          </>
        )}
      </div>
    </Page>
  );
}

function Story() {
  return (
    <p>
      A shop answers its customers with an agent. 300 questions in ten topics have references; four experiments ran on
      them: the baseline, a new prompt, a small model, and a web search that fails now and then. Conversations of
      customers are traces, and the deployed agent has had three versions and was rolled back once.
    </p>
  );
}

function Tasks({ w, made }: { w: string; made: Made }) {
  const tasks = TASKS.filter(({ deploys }) => !deploys || made.deployment !== undefined);
  return (
    <ol style={TASKS_STYLE}>
      {tasks.map(({ link, page }) => {
        const { path, search } = page(made);
        return (
          <li key={link}>
            <Link to={`/o/${w}${path}` as '/'} search={search}>
              {link}
            </Link>
          </li>
        );
      })}
    </ol>
  );
}

/** Requests that only read. */
function reading(signal: AbortSignal) {
  return {
    get<T>(path: string, query: Readonly<Record<string, string | number | boolean>> = {}): Promise<T> {
      const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
      return request('GET', `${path}?${search}`, { signal }) as Promise<T>;
    },
  };
}
