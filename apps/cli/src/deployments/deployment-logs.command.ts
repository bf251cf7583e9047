import { type Command, Option } from 'commander';
import { type Context, does } from '../api/context';
import { hasEnded } from './deployment-wait.command';
import { Usage } from '../failure';
import { whole } from '../api/lists';
import { findDeployment, revisionId } from '../api/lookups';
import type { Output, Style } from '../output/output';
import type { Revision } from '../api/records';
import { reaches } from '../table/group';
import { clean, iso } from '../output/text';

type Phase = 'build' | 'deploy';

/** Which lines are wanted. */
interface LinesOptions {
  readonly level?: string;
  readonly query?: string;
  readonly allRevisions?: boolean;
}

interface LogsOptions extends LinesOptions {
  readonly revision?: string;
  readonly phase: Phase;
  readonly limit?: number;
  readonly follow?: boolean;
}

interface LogLine {
  readonly timestamp: string;
  readonly level: string;
  readonly message: string;
}

const PAGE = 1000;
const DEFAULT = 200;
const LOOK_MS = 1000;
const STYLES: Readonly<Record<string, Style>> = { ERROR: 'red', WARNING: 'yellow', DEBUG: 'dim' };

export function addDeploymentLogs(group: Command): void {
  const logs = group
    .command('logs')
    .description('what building or deploying a revision wrote')
    .argument('<deployment>', 'id or name')
    .option('--revision <id>', 'which one (default: the latest)')
    .addOption(new Option('--phase <phase>', 'which step').choices(['build', 'deploy']).default('deploy'))
    .addOption(new Option('--level <level>', 'of this level').choices(['DEBUG', 'INFO', 'WARNING', 'ERROR']))
    .option('--query <text>', 'that hold this text')
    .option('--limit <n>', `the last lines, so many (default: ${DEFAULT})`, whole)
    .option('--all-revisions', 'of all revisions, what deploying them wrote')
    .option('-f, --follow', 'go on with new lines until the revision has ended');
  const logsPath = 'POST /v1/projects/{deployment_id}/revisions/{revision_id}';
  reaches(logs, `${logsPath}/build_logs`, `${logsPath}/deploy_logs`, 'POST /v1/projects/{deployment_id}/deploy_logs');
  does<LogsOptions>(logs, async (context, [name], options) => {
    const named = options.revision === undefined ? undefined : revisionId(options.revision);
    const { id, latest_revision_id } = await findDeployment(context.api, name!);
    const revision = named ?? latest_revision_id;
    if (revision === null) throw new Usage(`${name} has no revision yet.`);
    if (options.allRevisions && options.phase === 'build') throw new Usage('--all-revisions is for --phase deploy.');
    const logs = new RolloutLogs(context, id, revision, options);
    if (!options.follow) return logs.last(options.phase, options.limit ?? DEFAULT);
    const status = await logs.follow([options.phase]);
    if (!context.out.json) context.out.note(`Revision ${revision}: ${status}`);
  });
}

/** What the steps of a revision wrote. */
export class RolloutLogs {
  constructor(
    private readonly context: Context,
    private readonly deploymentId: string,
    private readonly revisionId: string,
    private readonly options: LinesOptions = {},
  ) {}

  async last(phase: Phase, most: number): Promise<void> {
    const lines: LogLine[] = [];
    for (let offset: string | null = null; lines.length < most;) {
      const page = await this.page(phase, 'desc', Math.min(PAGE, most - lines.length), offset);
      lines.push(...page.logs);
      if (page.next_offset === null) break;
      offset = page.next_offset;
    }
    if (this.context.out.json) return this.context.out.text(JSON.stringify(lines.reverse()));
    for (const line of lines.reverse()) show(this.context.out, line);
  }

  /** Prints lines as they come, as JSON one object a line, until the revision has ended. Answers its status. */
  async follow(phases: readonly Phase[]): Promise<string> {
    const { api } = this.context;
    const path = `/v2/deployments/${this.deploymentId}/revisions/${this.revisionId}`;
    const offsets = new Map<Phase, string>();
    for (;;) {
      const { status } = await api.get<Revision>(path);
      for (const phase of phases) await this.printNew(phase, offsets);
      if (hasEnded(status)) return status;
      await api.pause(LOOK_MS);
    }
  }

  /** Prints the lines behind those that `offsets` says were printed. */
  private async printNew(phase: Phase, offsets: Map<Phase, string>): Promise<void> {
    const { out } = this.context;
    for (;;) {
      const { logs, next_offset } = await this.page(phase, 'asc', PAGE, offsets.get(phase) ?? null);
      for (const line of logs) {
        if (out.json) out.text(JSON.stringify(line));
        else show(out, line);
      }
      if (next_offset === null) return;
      offsets.set(phase, next_offset);
    }
  }

  private async page(phase: Phase, order: 'asc' | 'desc', limit: number, offset: string | null) {
    const { level, query, allRevisions } = this.options;
    const revision = allRevisions ? '' : `/revisions/${this.revisionId}`;
    const path = `/v1/projects/${this.deploymentId}${revision}/${phase}_logs`;
    const body = JSON.stringify({ order, limit, offset, level, query });
    const { text } = await this.context.api.send({ method: 'POST', path, body, repeatable: true });
    return JSON.parse(text) as { logs: LogLine[]; next_offset: string | null };
  }
}

function show(out: Output, { timestamp, level, message }: LogLine): void {
  const style = STYLES[level];
  const text = `${level.padEnd(7)}  ${clean(message)}`;
  out.line(`${out.paint('dim', iso(timestamp))}  ${style ? out.paint(style, text) : text}`);
}
