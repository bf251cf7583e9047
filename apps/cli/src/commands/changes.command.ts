import { examples } from '../output/help';
import type { Command } from 'commander';
import { type Context, does } from '../api/context';
import { reaches } from '../table/group';
import { clean, iso } from '../output/text';

interface ChangesOptions {
  readonly types?: string;
  readonly about?: string;
  readonly after?: string;
  readonly follow?: boolean;
}

interface Changes {
  readonly changes: readonly {
    readonly position: string;
    readonly type: string;
    readonly timestamp: string;
    readonly data: Readonly<Record<string, unknown>>;
  }[];
  readonly position: string;
  readonly reset: boolean;
}

const PATH = '/v1/changes';
const WAIT_S = 25;

export function addChanges(all: Command): void {
  const command = all
    .command('changes')
    .description('what changes in the workspace, as webhooks are told of it')
    .option('--types <type,…>', 'only these, as deployment.created or deployment.*')
    .option('--about <id,…>', 'only about these things')
    .option('--after <position>', 'only what has changed since (default: from now on)')
    .option('-f, --follow', 'go on with what changes');
  examples(command, "changes --follow --types 'deployment.*'");
  reaches(command, `GET ${PATH}`);
  does<ChangesOptions>(command, async (context, _args, { types, about, after, follow }) => {
    for (let position = after; ;) {
      const query = { types, about, after: position, wait: String(WAIT_S) };
      const news = await context.api.get<Changes>(PATH, query);
      show(context, news);
      if (!follow) return;
      ({ position } = news);
    }
  });
}

/** As JSON, one object a line. */
function show({ out }: Context, { changes, position, reset }: Changes): void {
  if (reset) out.note('Earlier changes are no longer known.');
  for (const change of changes) {
    if (out.json) out.text(JSON.stringify(change));
    else {
      const ids = Object.entries(change.data).filter(([name, value]) => name.endsWith('_id') && value !== null);
      const things = ids.map(([name, value]) => `${name}=${clean(String(value))}`).join(' ');
      out.line(`${out.paint('dim', iso(change.timestamp))}  ${out.paint('bold', clean(change.type))}  ${things}`);
    }
  }
  if (!out.json && changes.length === 0) out.note(`Nothing up to position ${position}.`);
}
