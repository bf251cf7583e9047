import type { Command } from 'commander';
import { confirm } from '../output/confirm';
import { type Context, does } from '../api/context';
import { reasonHeader } from '../api/deployment-answers';
import { clean, when } from '../output/text';

interface Workspace {
  readonly id: string;
  readonly display_name: string;
  readonly created_at: string;
}

interface WorkspaceState extends Workspace {
  readonly status: string;
  readonly status_since: string;
  readonly remaining: readonly string[];
}

interface Reason {
  readonly reason?: string;
  readonly yes?: boolean;
}

const PATH = '/api/v1/workspaces';

export function addWorkspaces(all: Command): void {
  const group = all.command('workspace').alias('workspaces').description('workspaces of the installation');
  const list = group.command('list').alias('ls').description('list workspaces');
  does(list, async (context) => {
    const json = await context.api.read(PATH);
    if (context.out.json) return context.out.text(json);
    const rows = (JSON.parse(json) as Workspace[]).map((one) => [
      clean(one.display_name),
      when(one.created_at),
      one.id,
    ]);
    context.out.table([{ title: 'WORKSPACE', flexible: true }, { title: 'CREATED' }, { title: 'ID' }], rows);
  });
  const show = group.command('show').description('show whether a workspace works').argument('<id>');
  does(show, async (context, [id]) => tell(context, await context.api.read(at(id!))));
  const suspend = group
    .command('suspend')
    .description('refuse every key of a workspace, and let nothing of it go on, until it is resumed')
    .argument('<id>')
    .option('--reason <text>', 'why');
  does<Reason>(suspend, (context, [id], { reason }) => change(context, 'POST', `${at(id!)}/suspend`, reason));
  const resume = group
    .command('resume')
    .description('let a suspended workspace work again')
    .argument('<id>')
    .option('--reason <text>', 'why');
  does<Reason>(resume, (context, [id], { reason }) => change(context, 'POST', `${at(id!)}/resume`, reason));
  const remove = group
    .command('remove')
    .description('remove a workspace with everything it has, for ever')
    .argument('<id>')
    .option('--reason <text>', 'why')
    .option('--yes', 'do not ask');
  does<Reason>(remove, async (context, [id], { reason, yes }) => {
    await confirm(context, `Everything that workspace ${id} has will be gone for ever.`, yes);
    await change(context, 'DELETE', at(id!), reason);
  });
}

function at(id: string): string {
  return `${PATH}/${encodeURIComponent(id)}`;
}

async function change(context: Context, method: string, path: string, reason: string | undefined): Promise<void> {
  const { text } = await context.api.send({ method, path, headers: reasonHeader(reason), repeatable: true });
  tell(context, text);
}

function tell({ out }: Context, json: string): void {
  if (out.json) return out.text(json);
  const { id, display_name, status, status_since, remaining } = JSON.parse(json) as WorkspaceState;
  out.facts([
    ['workspace', clean(display_name)],
    ['id', id],
    ['status', `${status} since ${when(status_since)}`],
    ...(remaining.length > 0 ? [['still there', remaining.join(', ')] as const] : []),
  ]);
}
