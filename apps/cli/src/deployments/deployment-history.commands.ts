import { examples } from '../output/help';
import type { Command } from 'commander';
import { type Context, does } from '../api/context';
import { changeLines } from '../output/deployments.show';
import { type ListOptions, listed, listOptions, type PageQuery, whole } from '../api/lists';
import { deploymentId } from '../api/lookups';
import type { HistoryEntry } from '../api/records';
import { reaches } from '../table/group';
import { clean, when } from '../output/text';

interface HistoryOptions {
  readonly after?: number;
  readonly types?: string;
  readonly oldestFirst?: boolean;
}

export function addDeploymentHistory(group: Command): void {
  const history = group
    .command('history')
    .description('who changed what, when and why, newest first')
    .argument('<deployment>', 'id or name')
    .option('--after <version>', 'leave out all up to this version', whole)
    .option('--types <type,…>', 'only these, as DeploymentPatched')
    .option('--oldest-first', 'in the order in which it happened');
  examples(history, 'deployments history support-agent --limit 10');
  reaches(history, 'GET /v2/deployments/{deployment_id}/history');
  does<ListOptions & HistoryOptions>(listOptions(history), async (context, [name], options) => {
    const path = `/v2/deployments/${await deploymentId(context.api, name!)}/history`;
    const { after, types, oldestFirst } = options;
    const query = { after, types, order: oldestFirst ? 'asc' : undefined };
    const read = (page: PageQuery) => context.api.page(path, { ...query, ...page });
    const { items, json } = await listed<HistoryEntry>(context, options, read);
    if (context.out.json) return context.out.text(json);
    for (const entry of items) showEntry(context, entry);
  });
}

function showEntry(context: Context, entry: HistoryEntry): void {
  const { out } = context;
  const { version, type, time, actor, reason, changes, secrets_read: read, command } = entry;
  const who = entry.actor_name || actor;
  const by = who === null ? '' : `  by ${clean(who)}`;
  out.line(`${out.paint('dim', when(time))}  ${String(version).padStart(3)}  ${out.paint('bold', type)}${by}`);
  if (reason !== null) out.line(`  ${out.paint('cyan', clean(reason))}`);
  if (read) out.line(`  read: ${read.map(clean).join(', ')}`);
  if (command?.words) out.line(`  command: ${clean(command.words.join(' '))}`);
  else if (command) out.line(`  ${clean(command.reason ?? `exit code ${command.exit_code}`)}`);
  for (const line of changeLines(context, changes)) out.line(line);
}
