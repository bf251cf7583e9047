import type { Command } from 'commander';
import { type Api, reasonHeader } from '../api/api';
import { does } from '../api/context';
import { operationOf } from '../api/description';
import { deploymentId, findDeployment, revisionId } from '../api/lookups';
import type { Health, Revision } from '../api/records';
import { bodyFile } from '../body/body-file';
import { checkMembers } from '../body/body-members';
import { EXIT, Failure, Refusal, Usage } from '../failure';
import { examples } from '../output/help';
import { clean, when } from '../output/text';
import { addLines, reaches } from '../table/group';

const ONE = '/v2/deployments/{deployment_id}';

interface Criterion {
  readonly of: string;
  /** Absent in answers of earlier versions. */
  readonly slice?: string | null;
  readonly limit: string;
  readonly threshold: number;
  readonly outcome: string;
  readonly rows: number;
  readonly mean: number | null;
  readonly lower: number | null;
  readonly upper: number | null;
}

interface Verdict {
  readonly held: boolean;
  /** When the gates were last judged; null until then. */
  readonly looked_at: string | null;
  readonly until: string | null;
  readonly outcome: string;
  readonly reasons: readonly string[];
  readonly look: number;
  readonly gates: readonly { readonly gate: string; readonly criteria: readonly Criterion[] }[];
  readonly experiments: readonly { readonly name: string; readonly role: string; readonly actor: string | null }[];
}

/** The gates of a deployment, what they have found about a revision, and letting one through. */
export function addGates(group: Command): void {
  addLines(group, {
    gates: { route: `GET ${ONE}/gates`, example: 'support-agent' },
    'set-gates': { route: `PUT ${ONE}/gates`, example: 'support-agent --file gates.json' },
  });
  addVerdict(group);
  addOverride(group);
}

function addVerdict(group: Command): void {
  const verdict = group
    .command('verdict')
    .description('show what the gates of a revision have found')
    .argument('<deployment>', 'id or name')
    .argument('[revision]', 'its id (default: the latest)');
  examples(verdict, 'deployments verdict support-agent');
  reaches(verdict, `GET ${ONE}/revisions/{revision_id}/verdict`);
  does(verdict, async ({ api, out }, [name, revision]) => {
    const { id, which } = await named(api, name!, revision);
    const text = await api.read(`/v2/deployments/${id}/revisions/${which}/verdict`);
    if (out.json) return out.text(text);
    const { outcome, held, until, look, reasons, gates, experiments } = JSON.parse(text) as Verdict;
    const address = held ? await previewOf(api, id, which) : undefined;
    out.facts([
      ['revision', which],
      ['outcome', out.paint('bold', outcome)],
      ['waits until', held ? when(until) : undefined],
      ['answers at', address],
      ['looks', String(look)],
      ...reasons.map((reason, at): [string, string] => [at === 0 ? 'reason' : '', clean(reason)]),
    ]);
    const criteria = gates.flatMap((one) => one.criteria.map((criterion) => ({ gate: one.gate, ...criterion })));
    if (criteria.length > 0) {
      out.line();
      out.table(
        [
          ...[{ title: 'GATE', flexible: true }, { title: 'OF', flexible: true }, { title: 'OUTCOME' }],
          ...['LIMIT', 'MEAN', 'LOWER', 'UPPER', 'ROWS'].map((title) => ({ title, right: true })),
        ],
        criteria.map((one) => [
          ...[clean(one.gate), clean(one.slice ? `${one.of} in ${one.slice}` : one.of), one.outcome],
          ...[one.threshold, one.mean, one.lower, one.upper].map(shown),
          String(one.rows),
        ]),
      );
    }
    if (experiments.length === 0) return;
    out.line();
    out.table(
      [{ title: 'EXPERIMENT', flexible: true }, { title: 'ROLE' }, { title: 'MADE WITH KEY' }],
      experiments.map((one) => [clean(one.name), one.role, clean(one.actor ?? '-')]),
    );
  });
}

function addOverride(group: Command): void {
  const override = group
    .command('override')
    .description('deploy a revision whatever its gates say; needs a key with the scope admin')
    .argument('<deployment>', 'id or name')
    .argument('[revision]', 'its id (default: the latest)')
    .requiredOption('--reason <text>', 'why, for the history');
  examples(override, "deployments override support-agent --reason 'the judge was wrong'");
  reaches(override, `POST ${ONE}/revisions/{revision_id}/override`);
  does<{ reason: string }>(override, async ({ api, out }, [name, revision], { reason }) => {
    const { id, which } = await named(api, name!, revision);
    const path = `/v2/deployments/${id}/revisions/${which}/override`;
    const { text } = await api.command({ method: 'POST', path, body: '{}', headers: reasonHeader(reason) });
    if (out.json) out.text(text);
    else out.line(`Revision ${which}: ${(JSON.parse(text) as Revision).status}; its gates are overridden.`);
  });
}

async function named(api: Api, name: string, revision: string | undefined) {
  if (revision !== undefined) return { id: await deploymentId(api, name), which: revisionId(revision) };
  const { id, latest_revision_id } = await findDeployment(api, name);
  if (latest_revision_id === null) throw new Usage(`${name} has no revision.`);
  return { id, which: latest_revision_id };
}

function shown(value: number | null): string {
  return value === null ? '-' : String(Number(value.toPrecision(3)));
}

/** The gates that a file holds: a list of them, or `gates` with one. @throws Usage */
export function gatesIn(file: string): readonly unknown[] {
  const { shown, value } = bodyFile(file, 'any');
  const body = Array.isArray(value) ? { gates: value as unknown[] } : (value as { gates?: unknown } | null);
  checkMembers(body, operationOf(`PUT ${ONE}/gates`).body!, shown);
  if (!Array.isArray(body?.gates)) throw new Usage(`${shown} must hold a list of gates, or "gates" with one.`);
  return body.gates;
}

/**
 * Ends the command when gates hold a revision and say why, which takes them a moment; `path` is its path.
 * @throws Failure with the exit code 7
 */
export async function checkHeld(api: Api, path: string): Promise<void> {
  const verdict = await api.get<Verdict>(`${path}/verdict`).catch((error: unknown) => {
    // Nothing holds it, or the server is of a version without gates.
    if (error instanceof Refusal && error.status === 404) return undefined;
    throw error;
  });
  if (!verdict?.held || verdict.looked_at === null) return;
  const reasons = clean(verdict.reasons.join(' '));
  const [deployment, revision] = [path.split('/').at(-3)!, path.split('/').at(-1)!];
  const address = await previewOf(api, deployment, revision);
  const answers = address === undefined ? '' : ` It answers at ${address} while it waits.`;
  throw new Failure(`Revision ${revision} is held by its gates: ${reasons}${answers}`, EXIT.held);
}

/** The path at which a held revision answers; undefined when it does not. */
async function previewOf(api: Api, deployment: string, revision: string): Promise<string | undefined> {
  const { latest_revision } = await api.get<Health>(`${ONE.replace('{deployment_id}', deployment)}/health`);
  return latest_revision?.id === revision ? (latest_revision.preview ?? undefined) : undefined;
}
