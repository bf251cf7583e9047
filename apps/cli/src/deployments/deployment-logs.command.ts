import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Query } from '../api/api';
import { type Context, does } from '../api/context';
import { checkHeld } from './deployment-gates.commands';
import { hasEnded } from './deployment-wait.command';
import { Usage } from '../failure';
import { examples } from '../output/help';
import { whole } from '../api/lists';
import { findDeployment, revisionId } from '../api/lookups';
import type { Output, Style } from '../output/output';
import type { Revision } from '../api/records';
import { reaches } from '../table/group';
import { clean, iso } from '../output/text';

type Phase = 'build' | 'deploy' | 'run';

/** Which lines are wanted. */
interface LinesOptions {
  readonly level?: string;
  readonly search?: string;
  readonly allRevisions?: boolean;
  /** The held revision whose program is meant; absent: that of the deployment. */
  readonly revision?: string;
}

interface LogsOptions extends LinesOptions {
  readonly phase?: Phase;
  readonly limit?: number;
  readonly follow?: boolean;
  readonly counts?: boolean;
}

interface Counts {
  readonly bins: readonly {
    readonly at: string;
    readonly lines: number;
    readonly warnings: number;
    readonly errors: number;
  }[];
}

interface LogLine {
  readonly id: string;
  readonly timestamp: string;
  readonly level: string;
  readonly message: string;
}

const PAGE = 1000;
const DEFAULT = 200;
const LOOK_MS = 1000;
/** Time for which the service waits for lines of a program, and the pause after each answer. */
const WAIT_S = 20;
const REST_MS = 250;
const LEVELS = ['debug', 'info', 'warn', 'error', 'critical'];
/** Executor of a deployment whose program the service runs itself. */
const RUNS_HERE = 'local';
const STYLES: Readonly<Record<string, Style>> = { CRITICAL: 'red', ERROR: 'red', WARNING: 'yellow', DEBUG: 'dim' };

export function addDeploymentLogs(group: Command): void {
  const logs = group
    .command('logs')
    .description('what the program of a deployment writes, and what building or deploying a revision wrote')
    .argument('<deployment>', 'id or name')
    .option(
      '--revision <id>',
      'what building or deploying this one wrote (default: the latest), or with --phase run its program while its gates hold it',
    )
    .addOption(
      new Option('--phase <phase>', 'of what (default: run where the service runs the program, else deploy)').choices([
        'build',
        'deploy',
        'run',
      ]),
    )
    .option('--level <level>', `of this level, with --phase run also of higher ones: ${LEVELS.join(', ')}`, level)
    .option('--search <text>', 'only lines that contain this text')
    .addOption(new Option('--query <text>').hideHelp())
    .option('--limit <n>', `number of last lines (default: ${DEFAULT})`, whole)
    .option('--all-revisions', 'what deploying all revisions wrote')
    .option('--counts', 'the number of lines, warnings and errors over time')
    .option('-f, --follow', 'print new lines until the revision has ended, or with --phase run until Ctrl-C');
  const words = group.parent ? `${group.name()} logs` : 'logs';
  examples(logs, `${words} support-agent -f --level warn --search timeout`, `${words} support-agent --phase build`);
  const logsPath = 'POST /v1/projects/{deployment_id}/revisions/{revision_id}';
  reaches(
    logs,
    ...[`${logsPath}/build_logs`, `${logsPath}/deploy_logs`, 'POST /v1/projects/{deployment_id}/deploy_logs'],
    'GET /v2/deployments/{deployment_id}/app_logs',
    'GET /v2/deployments/{deployment_id}/log_counts',
  );
  does<LogsOptions & { readonly query?: string }>(logs, async (context, [name], { query, ...given }) => {
    const options = { ...given, search: given.search ?? query };
    const named = options.revision === undefined ? undefined : revisionId(options.revision);
    const { id, latest_revision_id, executor } = await findDeployment(context.api, name!);
    const revision = named ?? latest_revision_id;
    if (revision === null) throw new Usage(`${name} has no revision yet.`);
    const isOfRevisions = named !== undefined || options.allRevisions === true;
    const phase = options.phase ?? (executor === RUNS_HERE && !isOfRevisions ? 'run' : 'deploy');
    if (options.allRevisions && phase !== 'deploy') throw new Usage('--all-revisions is for --phase deploy.');
    // A held revision can answer before anything of its deployment was deployed.
    const mayAnswer = executor === RUNS_HERE || (named !== undefined && executor === undefined);
    if (phase === 'run' && !mayAnswer) throw new Usage(`The service does not run the program of ${name}.`);
    if (options.counts) {
      const revision_id = phase === 'run' || options.allRevisions ? undefined : revision;
      return showCounts(context, `/v2/deployments/${id}/log_counts`, { phase, revision_id });
    }
    const logs = new DeploymentLogs(context, id, revision, { ...options, revision: named });
    if (!options.follow) return logs.last(phase, options.limit ?? DEFAULT);
    if (phase === 'run') return logs.followProgram(options.limit ?? DEFAULT);
    const status = await logs.follow([phase]);
    if (!context.out.json) context.out.note(`Revision ${revision}: ${status}`);
  });
}

async function showCounts({ api, out }: Context, path: string, query: Query): Promise<void> {
  const json = await api.read(path, query);
  if (out.json) return out.text(json);
  const { bins } = JSON.parse(json) as Counts;
  if (bins.length === 0) return out.note('No lines.');
  const counts = ['LINES', 'WARNINGS', 'ERRORS'].map((title) => ({ title, right: true }));
  out.table(
    [{ title: 'FROM' }, ...counts],
    bins.map(({ at, lines, warnings, errors }) => [iso(at), `${lines}`, `${warnings}`, `${errors}`]),
  );
}

/** The name of a level as the service knows it. */
function level(text: string): string {
  const known = text.toLowerCase().replace(/^warning$/, 'warn');
  if (!LEVELS.includes(known)) throw new InvalidArgumentError(`It is one of ${LEVELS.join(', ')}.`);
  return known === 'warn' ? 'WARNING' : known.toUpperCase();
}

/** Lines that the steps of a revision wrote, and those that the program of its deployment writes. */
export class DeploymentLogs {
  constructor(
    private readonly context: Context,
    private readonly deploymentId: string,
    private readonly revisionId: string,
    private readonly options: LinesOptions = {},
  ) {}

  async last(phase: Phase, most: number): Promise<void> {
    const lines = await this.newest(phase, most);
    if (this.context.out.json) return this.context.out.text(JSON.stringify(lines));
    this.print(lines);
  }

  /** Prints the last lines of the program, and others as they come; as JSON one object a line. */
  async followProgram(most: number): Promise<never> {
    const { api } = this.context;
    const known = await this.newest('run', most);
    this.print(known);
    let offset = known.at(-1)?.id ?? null;
    for (;;) {
      const { logs, next_offset } = await this.page('run', 'asc', PAGE, offset, WAIT_S);
      this.print(logs);
      offset = next_offset ?? offset;
      await api.pause(REST_MS);
    }
  }

  /**
   * Prints lines as they come, as JSON one object a line, until the revision has ended. Answers its status.
   * @throws Failure when its gates hold it
   */
  async follow(phases: readonly Phase[]): Promise<string> {
    const { api } = this.context;
    const path = `/v2/deployments/${this.deploymentId}/revisions/${this.revisionId}`;
    const offsets = new Map<Phase, string>();
    for (;;) {
      const { status } = await api.get<Revision>(path);
      for (const phase of phases) await this.printNew(phase, offsets);
      if (hasEnded(status)) return status;
      if (status === 'AWAITING_DEPLOY') await checkHeld(api, path);
      await api.pause(LOOK_MS);
    }
  }

  /** Prints the lines behind those that `offsets` says were printed. */
  private async printNew(phase: Phase, offsets: Map<Phase, string>): Promise<void> {
    for (;;) {
      const { logs, next_offset } = await this.page(phase, 'asc', PAGE, offsets.get(phase) ?? null);
      this.print(logs);
      if (next_offset === null) return;
      offsets.set(phase, next_offset);
    }
  }

  private async newest(phase: Phase, most: number): Promise<LogLine[]> {
    const lines: LogLine[] = [];
    for (let offset: string | null = null; lines.length < most;) {
      const page = await this.page(phase, 'desc', Math.min(PAGE, most - lines.length), offset);
      lines.push(...page.logs);
      if (page.next_offset === null) break;
      offset = page.next_offset;
    }
    return lines.reverse();
  }

  private print(lines: readonly LogLine[]): void {
    const { out } = this.context;
    for (const line of lines) {
      if (out.json) out.text(JSON.stringify(line));
      else show(out, line);
    }
  }

  private async page(phase: Phase, order: 'asc' | 'desc', limit: number, offset: string | null, wait?: number) {
    const { level, search: query, allRevisions, revision: revision_id } = this.options;
    const { api } = this.context;
    const wanted = { order, limit, level, query };
    const revision = allRevisions ? '' : `/revisions/${this.revisionId}`;
    const { text } = await (phase === 'run'
      ? api.send({
          ...{ method: 'GET', path: `/v2/deployments/${this.deploymentId}/app_logs`, patience: (wait ?? 0) * 1000 },
          query: { ...wanted, revision_id, offset: offset ?? undefined, wait },
        })
      : api.send({
          ...{ method: 'POST', path: `/v1/projects/${this.deploymentId}${revision}/${phase}_logs`, repeatable: true },
          body: JSON.stringify({ ...wanted, offset }),
        }));
    return JSON.parse(text) as { logs: LogLine[]; next_offset: string | null };
  }
}

function show(out: Output, { timestamp, level, message }: LogLine): void {
  const style = STYLES[level];
  const text = `${level.padEnd(7)}  ${clean(message)}`;
  out.line(`${out.paint('dim', iso(timestamp))}  ${style ? out.paint(style, text) : text}`);
}
