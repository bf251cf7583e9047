import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { answered, api, type Schemas } from '../../api/client';
import { useMay } from '../../api/session';
import { bytes, whole } from '../../ui/format';
import { Button, LongText, Problem, Sign, Skeleton, Text } from '../../ui/parts';
import { useWorkspace } from './data';
import css from './source-difference.module.css';

type FileChange = Schemas['SourceFileChange'];

interface Compared {
  readonly deployment: string;
  readonly from: string;
  readonly to: string;
}

const SIGNS = { added: '+', removed: '−', changed: '±' } as const;
/** Explanation of a file whose contents are not shown. */
const UNSEEN = {
  text: undefined,
  large: 'too large to compare',
  binary: 'binary',
  link: 'a link',
  secret: 'holds secrets by its name: never shown',
} as const;
const PAGE = 200;

/** Files of the uploaded sources of two revisions that differ; the difference of a text is read when it is opened. */
export function SourceDifference({ deployment, from, to }: Compared) {
  const w = useWorkspace();
  const path = { deployment_id: deployment, revision_id: from, other_id: to };
  const query = useInfiniteQuery({
    queryKey: ['deployment', w, deployment, 'files', from, to],
    initialPageParam: 0,
    queryFn: ({ signal, pageParam }) =>
      answered(
        api.GET('/v2/deployments/{deployment_id}/revisions/{revision_id}/diff/{other_id}/files', {
          params: { path, query: { limit: PAGE, offset: pageParam } },
          signal,
        }),
      ),
    getNextPageParam: ({ offset, total }) => (offset < total ? offset : undefined),
    staleTime: Infinity,
    retry: false,
  });
  if (query.error) return <Problem error={query.error} retry={() => void query.refetch()} />;
  if (!query.data) return <Skeleton rows={3} />;
  const files = query.data.pages.flatMap((page) => page.files);
  const { total, unchanged } = query.data.pages[0]!;
  return (
    <section aria-label="Files of the source">
      <p className={css.sum}>
        {total === 0 ? 'No file differs' : `${whole(total)} ${total === 1 ? 'file differs' : 'files differ'}`}
        {unchanged !== null && `, ${whole(unchanged)} ${unchanged === 1 ? 'is' : 'are'} the same`}
      </p>
      <ul className={css.files}>
        {files.map((file) => (
          <File key={file.path} file={file} compared={{ deployment, from, to }} />
        ))}
      </ul>
      {query.hasNextPage && (
        <Button disabled={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
          Show more files
        </Button>
      )}
    </section>
  );
}

function File({ file, compared }: { file: FileChange; compared: Compared }) {
  const [isOpen, setOpen] = useState(false);
  const may = useMay('write');
  const { path, change, kind } = file;
  const unseen = UNSEEN[kind] ?? (may ? undefined : 'your key lacks the scope write, which contents need');
  const name = (
    <>
      <span className={css[change]}>
        <Sign sign={SIGNS[change]}>{change}</Sign>
      </span>{' '}
      <Text>{path}</Text> <span className={css.size}>{sizes(file)}</span>
    </>
  );
  if (unseen !== undefined) {
    return (
      <li className={css.file}>
        {name} <span className={css.size}>· {unseen}</span>
      </li>
    );
  }
  return (
    <li className={css.file}>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>{name}</summary>
        {isOpen && <Content path={path} {...compared} />}
      </details>
    </li>
  );
}

function sizes({ from, to }: FileChange): string {
  if (from && to) return from.bytes === to.bytes ? bytes(to.bytes) : `${bytes(from.bytes)} → ${bytes(to.bytes)}`;
  return bytes((from ?? to)!.bytes);
}

function Content({ deployment, from, to, path }: Compared & { path: string }) {
  const w = useWorkspace();
  const query = useQuery({
    queryKey: ['deployment', w, deployment, 'file', from, to, path],
    queryFn: ({ signal }) =>
      answered(
        api.GET('/v2/deployments/{deployment_id}/revisions/{revision_id}/diff/{other_id}/files/content', {
          params: { path: { deployment_id: deployment, revision_id: from, other_id: to }, query: { path } },
          signal,
        }),
      ),
    // Contents of a source are not kept beyond the time that they are looked at.
    gcTime: 0,
    staleTime: Infinity,
    retry: false,
  });
  if (query.error) return <Problem error={query.error} retry={() => void query.refetch()} />;
  if (!query.data) return <Skeleton rows={3} />;
  const { patch } = query.data;
  if (patch === null) return <p className={css.sum}>The two differ too much to be compared.</p>;
  return (
    <pre className={css.patch} tabIndex={0} role="region" aria-label={`Difference of ${path}`}>
      {blocks(patch).map(({ kind, text }, at) => (
        <span key={at} className={css[kind]}>
          <LongText>{text}</LongText>
        </span>
      ))}
    </pre>
  );
}

type Kind = 'added' | 'removed' | 'place' | 'same';
const KINDS: Readonly<Record<string, Kind>> = { '+': 'added', '-': 'removed', '@': 'place' };

/** Neighbouring lines of one kind together, without the names of the files. */
function blocks(patch: string): { kind: Kind; text: string }[] {
  const found: { kind: Kind; text: string }[] = [];
  for (const line of patch.split('\n').slice(3)) {
    if (line === '') continue;
    const kind = KINDS[line[0]!] ?? 'same';
    const last = found.at(-1);
    if (last?.kind === kind) last.text += `${line}\n`;
    else found.push({ kind, text: `${line}\n` });
  }
  return found;
}
