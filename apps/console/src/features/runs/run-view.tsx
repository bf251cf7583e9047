import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { printLossless } from '../../api/lossless';
import type { Given, WholeRun } from '../../api/traces';
import { merged, useAddress } from '../../ui/address';
import { duration, figure, runName, whole } from '../../ui/format';
import { Facts } from '../../ui/list';
import { Copy, LongText, Text, Time } from '../../ui/parts';
import { Values } from '../../ui/values/values';
import { RunStatus } from './columns';
import { firstTokenAt, linesOf, numberOf, textOf } from './run-facts';
import css from './runs.module.css';

interface RunViewProps {
  readonly run: WholeRun;
  /** Start of its trace, where that is known. */
  readonly from?: string;
  /** Feedback on it one by one; undefined where there is none to show. */
  readonly feedback?: readonly Given[];
  readonly tools?: ReactNode;
  /** While another run is shown until this one is there. */
  readonly old?: boolean;
}

/** All that is known of a run; parts that it has no member for are left out. */
export function RunView({ run, from, feedback, tools, old }: RunViewProps) {
  const { search } = useAddress();
  const name = runName(run.name, 'Run');
  const asJson = search.view === 'json';
  return (
    <section className={css.run} aria-label="Run" aria-busy={old} tabIndex={0}>
      <header className={css.tools}>
        <h2>
          <Text title={name.slice(0, 1000)}>{name.slice(0, 300)}</Text>
        </h2>
        <span className={css.buttons}>
          <Link to="." search={merged({ view: asJson ? undefined : 'json' })} resetScroll={false} replace>
            {asJson ? 'As a page' : 'As JSON'}
          </Link>
          {tools}
        </span>
      </header>
      {asJson ? <Json of={run} /> : <Parts run={run} from={from} feedback={feedback} />}
    </section>
  );
}

function Json({ of }: { of: WholeRun }) {
  const text = printLossless(of);
  return (
    <div className={css.json}>
      <Copy text={text}>Copy</Copy>
      <pre>
        <LongText>{text}</LongText>
      </pre>
    </div>
  );
}

function Parts({ run, from, feedback }: Pick<RunViewProps, 'run' | 'from' | 'feedback'>) {
  const error = textOf(run.error);
  const events = Array.isArray(run.events) && run.events.length > 0 ? run.events : undefined;
  return (
    <>
      {Array.isArray(run.left_out) && (
        <p role="note">
          Too large to be stored, and left out: <code>{run.left_out.join(', ')}</code>.
        </p>
      )}
      <RunFacts run={run} from={from} />
      {error !== undefined && (
        <section className={css.error} aria-label="Error">
          <h3>Error</h3>
          <ol>
            {linesOf(error).map((line, place) => (
              <li key={place}>
                <Text>{line}</Text>
              </li>
            ))}
          </ol>
        </section>
      )}
      <Values
        key={textOf(run.id)}
        values={{
          Input: run.inputs,
          Output: run.outputs ?? undefined,
          Reference: run.reference_outputs ?? undefined,
        }}
      />
      {feedback && feedback.length > 0 && <Feedback given={feedback} />}
      <Values
        values={{
          Feedback: !feedback && Array.isArray(run.feedback) && run.feedback.length > 0 ? run.feedback : undefined,
          Metadata: run.extra ?? run.metadata ?? undefined,
        }}
      />
      {events !== undefined && (
        <details className={css.events}>
          <summary>{events.length === 1 ? '1 event' : `${whole(events.length)} events`}</summary>
          <pre tabIndex={0}>
            <LongText>{printLossless(events)}</LongText>
          </pre>
        </details>
      )}
    </>
  );
}

function RunFacts({ run, from }: Pick<RunViewProps, 'run' | 'from'>) {
  const { w, session } = useParams({ strict: false });
  const [start, end] = [textOf(run.start_time), textOf(run.end_time)];
  if (start === undefined) return null;
  const since = (time: string | undefined) =>
    time === undefined ? undefined : duration(Math.max(0, Date.parse(time) - Date.parse(start)) / 1000);
  const first = firstTokenAt(run);
  const [tokens, asked, said] = ['total_tokens', 'prompt_tokens', 'completion_tokens'].map((name) =>
    numberOf(run[name]),
  );
  const cost = numberOf(run.total_cost);
  const thread = textOf(run.thread_id);
  const tags = Array.isArray(run.tags) ? run.tags.filter((tag) => typeof tag === 'string') : [];
  const kind = textOf(run.run_type);
  return (
    <Facts
      facts={{
        Status: <RunStatus of={run.status === 'error' || run.status === 'pending' ? run.status : 'success'} />,
        Type: kind && <Text>{kind.slice(0, 100)}</Text>,
        Started: <Time at={start} />,
        'Since the start':
          from === undefined ? undefined : duration(Math.max(0, Date.parse(start) - Date.parse(from)) / 1000),
        Latency: since(end),
        'First token': since(first),
        Tokens:
          tokens === undefined
            ? undefined
            : `${whole(tokens)}${asked === undefined || said === undefined ? '' : ` (${whole(asked)} in, ${whole(said)} out)`}`,
        Cost: cost === undefined ? undefined : figure(cost),
        Thread:
          thread === undefined ? undefined : w === undefined || session === undefined ? (
            <Text>{thread.slice(0, 200)}</Text>
          ) : (
            <Link to="/o/$w/projects/p/$session/t/$thread" params={{ w, session, thread }}>
              <Text>{thread.slice(0, 200)}</Text>
            </Link>
          ),
        Tags: tags.length === 0 ? undefined : <Text>{tags.join(', ').slice(0, 300)}</Text>,
        Example: exampleLink(run, w),
        ...attachmentsOf(run),
      }}
    />
  );
}

function attachmentsOf({ s3_urls: files }: WholeRun) {
  if (typeof files !== 'object' || files === null) return {};
  const links = Object.entries(files as Record<string, { presigned_url?: unknown }>).flatMap(([name, file]) => {
    const address = textOf(file?.presigned_url);
    return address?.startsWith('/') || address?.startsWith(`${window.location.origin}/`) ? [{ name, address }] : [];
  });
  if (links.length === 0) return {};
  return {
    Attachments: links.map(({ name, address }) => (
      <a key={name} href={address} target="_blank" rel="noreferrer" className={css.file}>
        <Text>{name.replace(/^attachment\./, '').slice(0, 100)}</Text>
      </a>
    )),
  };
}

/** A link to the row of an experiment that a run is of; undefined for other runs. */
function exampleLink(run: WholeRun, w: string | undefined) {
  const [example, dataset] = [textOf(run.reference_example_id), textOf(run.reference_dataset_id)];
  const experiment = textOf(run.session_id);
  if (w === undefined || example === undefined || dataset === undefined || experiment === undefined) return undefined;
  const params = { w, dataset, example };
  return (
    <Link to="/o/$w/datasets/$dataset/e/$example" params={params} search={{ selectedSessions: experiment }}>
      its row
    </Link>
  );
}

const KINDS = { app: 'a person', api: 'a program', model: 'a model', auto_eval: 'an evaluator' } as const;

function Feedback({ given }: { given: readonly Given[] }) {
  return (
    <section className={css.feedback} aria-label="Feedback">
      <h3>Feedback</h3>
      <ul>
        {given.map(({ id, key, score, value, comment, correction, created_at, feedback_source: { type } }) => (
          <li key={id}>
            <b>
              <Text>{key.slice(0, 200)}</Text>
            </b>{' '}
            {score !== null && figure(Number(score))}{' '}
            {value !== null && value !== undefined && (
              <Text>{(typeof value === 'string' ? value : printLossless(value, 0)).slice(0, 1000)}</Text>
            )}{' '}
            <span className={css.quiet}>
              by {KINDS[type]} · <Time at={created_at} />
            </span>
            {comment !== null && (
              <p>
                <LongText>{comment}</LongText>
              </p>
            )}
            {correction !== null && (
              <p>
                <span className={css.quiet}>Should have been</span>{' '}
                <LongText>{typeof correction === 'string' ? correction : printLossless(correction)}</LongText>
              </p>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
