import type { Command } from 'commander';
import { type Context, does } from '../api/context';
import { deploymentId, revisionId } from '../api/lookups';
import type { Change } from '../api/records';
import { changeLines } from '../output/deployments.show';
import { examples } from '../output/help';
import { clean } from '../output/text';
import { reaches } from '../table/group';

interface Options {
  readonly files?: boolean;
  readonly file?: string;
  readonly commits?: boolean;
}

interface FileChange {
  readonly path: string;
  readonly change: 'added' | 'removed' | 'changed';
  readonly kind: string;
}

interface FilesPage {
  readonly files: readonly FileChange[];
  readonly offset: number;
  readonly total: number;
  readonly unchanged: number | null;
}

const PAGE = 1000;
const SIGNS = { added: '+', removed: '-', changed: '~' } as const;
const COLOURS = new Map([
  ['+', 'green'],
  ['-', 'red'],
  ['@', 'cyan'],
] as const);
const ROUTE = 'GET /v2/deployments/{deployment_id}/revisions/{revision_id}/diff/{other_id}';

export function addDeploymentDiff(group: Command): void {
  const diff = group
    .command('diff')
    .description('what differs between two revisions; secrets are shown as digests')
    .argument('<deployment>', 'id or name')
    .argument('<from>', 'id of a revision')
    .argument('<to>', 'id of a revision')
    .option('--files', 'the files of their uploaded sources that differ')
    .option('--file <path>', 'the difference of one of these files')
    .option('--commits', 'the commits between the two, as their code host tells them');
  const ids = '0198c1f0-0000-7000-8000-000000000001 0198c1f0-0000-7000-8000-000000000002';
  examples(diff, `deployments diff support-agent ${ids}`, `deployments diff support-agent ${ids} --file agent.py`);
  reaches(diff, ROUTE, `${ROUTE}/files`, `${ROUTE}/files/content`, `${ROUTE}/commits`);
  does<Options>(diff, async (context, [name, from, to], { files, file, commits }) => {
    const [a, b] = [revisionId(from!), revisionId(to!)];
    const path = `/v2/deployments/${await deploymentId(context.api, name!)}/revisions/${a}/diff/${b}`;
    if (file !== undefined) return showFile(context, `${path}/files/content?path=${encodeURIComponent(file)}`);
    if (files) return showFiles(context, `${path}/files`);
    if (commits) return showCommits(context, `${path}/commits`);
    const json = await context.api.read(path);
    if (context.out.json) return context.out.text(json);
    const { changes } = JSON.parse(json) as { changes: Change[] };
    if (changes.length === 0) context.out.note('They run the same.');
    for (const line of changeLines(context, changes)) context.out.line(line.slice(2));
  });
}

interface Commits {
  readonly commits: readonly {
    readonly sha: string;
    readonly author: string | null;
    readonly subject: string | null;
  }[];
  readonly more: boolean;
  readonly url: string;
}

async function showCommits({ api, out }: Context, path: string): Promise<void> {
  const json = await api.read(path);
  if (out.json) return out.text(json);
  const { commits, more, url } = JSON.parse(json) as Commits;
  for (const { sha, author, subject } of commits) {
    out.line(`${out.paint('dim', sha.slice(0, 10))}  ${clean(subject ?? '')}${author ? `  (${clean(author)})` : ''}`);
  }
  out.note(`${more ? 'There are more. ' : ''}${clean(url)}`);
}

async function showFiles({ api, out }: Context, path: string): Promise<void> {
  const files: FileChange[] = [];
  let page: FilesPage;
  do {
    page = JSON.parse(await api.read(`${path}?limit=${PAGE}&offset=${files.length}`)) as FilesPage;
    files.push(...page.files);
  } while (page.files.length > 0 && files.length < page.total);
  if (out.json) return out.text(JSON.stringify({ ...page, files, offset: files.length }));
  for (const { path: name, change, kind } of files) {
    out.line(coloured(out, `${SIGNS[change]} ${clean(name)}${kind === 'text' ? '' : `  (${kind})`}`));
  }
  if (page.unchanged === null) out.note('Both have one source.');
  else out.note(`${files.length} files differ, ${page.unchanged} are the same.`);
}

async function showFile({ api, out }: Context, path: string): Promise<void> {
  const json = await api.read(path);
  if (out.json) return out.text(json);
  const { kind, patch } = JSON.parse(json) as { kind: string; patch: string | null };
  if (patch === null) {
    return out.note(
      kind === 'text' ? 'The two differ too much to be compared.' : `Files of kind ${kind} are not shown.`,
    );
  }
  for (const line of patch.trimEnd().split('\n').slice(1)) {
    out.line(coloured(out, clean(line)));
  }
}

function coloured(out: Context['out'], line: string): string {
  const colour = COLOURS.get(line[0] as '+');
  return colour ? out.paint(colour, line) : line;
}
