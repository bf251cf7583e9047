import type { Context } from '../api/context';
import { namesOf } from '../api/kinds';
import type { Output, Style } from './output';
import type { Change, Deployment, Revision, Standing } from '../api/records';
import type { Cell } from './table';
import { brief, clean, when } from './text';

const STYLES: Readonly<Record<string, Style>> = {
  READY: 'green',
  DEPLOYED: 'green',
  AWAITING_DELETE: 'yellow',
  SKIPPED: 'dim',
  INTERRUPTED: 'yellow',
};

/** Sentence about a deployment of the executor `record`. */
export const RECORDED = 'record: recorded, nothing is run';

function toKnow({ executor, stopped }: Pick<Deployment, 'executor' | 'stopped'>): string {
  if (stopped) return ', stopped';
  return executor === 'record' ? ', recorded' : '';
}

/** A status, in words where its name says something else, and what is to be known with it. */
function status(out: Output, text: string, more = '', word = text): Cell {
  return out.cell(STYLES[text] ?? (text.endsWith('_FAILED') ? 'red' : 'yellow'), `${word}${more}`);
}

const TONES: Readonly<Record<Standing['tone'], Style>> = { ok: 'green', busy: 'yellow', bad: 'red', idle: 'dim' };

/** Words for a status: `AWAITING_DATABASE` means not deployed yet, and a deployment that crash loops is `UNKNOWN`. */
function wordOf({ status, crash_looping }: Deployment): string {
  if (status === 'AWAITING_DATABASE') return 'not deployed yet';
  return crash_looping ? 'crash looping' : status;
}

/** `DEPLOYED` says of a revision that does not run only that it has run: what has become of it. */
function becomeOf({ id, status, created_at }: Revision, active: Revision | undefined): string {
  if (status !== 'DEPLOYED' || !active || id === active.id) return status;
  return Date.parse(created_at) > Date.parse(active.created_at) ? 'taken back' : 'superseded';
}

/** The sentence about a deployment; its status where the service did not tell one. */
function standingOf(out: Output, { standing, ...deployment }: Deployment): Cell {
  if (!standing) return status(out, deployment.status, toKnow(deployment), wordOf(deployment));
  return out.cell(TONES[standing.tone], clean(standing.text) + toKnow({ ...deployment, stopped: undefined }));
}

export function showDeployments({ out }: Context, deployments: readonly Deployment[]): void {
  if (deployments.length === 0) return out.note('No deployments.');
  out.table(
    [
      { title: 'NAME', whole: true },
      { title: 'STATUS', flexible: true },
      { title: 'SOURCE', spare: true },
      { title: 'RUNS', flexible: 'at its beginning' },
      { title: 'UPDATED', spare: true },
      { title: 'ID', id: true },
    ],
    deployments.map((deployment) => [
      out.cell('bold', clean(deployment.name)),
      standingOf(out, deployment),
      deployment.source,
      brief(artefact(deployment.source_revision_config)),
      when(deployment.updated_at),
      deployment.id,
    ]),
  );
}

/** One deployment as lines; `etag` is its edition. */
export async function showDeployment({ api, out }: Context, deployment: Deployment, etag?: string): Promise<void> {
  const { source_config, source_revision_config, latest_revision_id: latest, active_revision_id: active } = deployment;
  const { integration_id: integration, ...rest } = source_config;
  const ids = typeof integration === 'string' ? [integration] : [];
  const [name = integration] = (await namesOf(api, 'integration', ids)).values();
  const config = { integration: name ?? null, ...rest };
  out.facts([
    ['name', out.paint('bold', clean(deployment.name))],
    ['id', deployment.id],
    ['standing', deployment.standing && clean(deployment.standing.text)],
    ['status', `${wordOf(deployment)}${deployment.stopped ? ', stopped' : ''}`],
    ['', deployment.status_reason && clean(deployment.status_reason)],
    ['edition', etag?.replaceAll('"', '')],
    ['source', deployment.source],
    ...members({ ...config, ...source_revision_config }),
    ['secrets', deployment.secrets.map(({ name }) => clean(name)).join(', ') || undefined],
    ['latest revision', latest ?? '-'],
    ['active revision', active === latest && active ? 'the latest' : (active ?? '-')],
    ['deployed by', deployment.executor === 'record' ? RECORDED : deployment.executor],
    ['tracing project', deployment.tracing_project && clean(deployment.tracing_project)],
    ['created', when(deployment.created_at)],
    ['updated', when(deployment.updated_at)],
  ]);
}

export function showRevisions({ out }: Context, revisions: readonly Revision[], active: string | null): void {
  const running = revisions.find(({ id }) => id === active);
  const isCaused = revisions[0]?.number !== undefined;
  out.table(
    [
      { title: 'ID' },
      { title: 'STATUS' },
      { title: '' },
      { title: 'RUNS', flexible: 'at its beginning' },
      { title: 'CREATED', spare: true },
      { title: 'UPDATED', spare: true },
      ...(isCaused ? [{ title: 'NO.' }, { title: 'BY' }, { title: 'REASON', flexible: true as const }] : []),
    ],
    revisions.map((revision) => {
      const { id, status: text, source_revision_config, created_at, updated_at, ...cause } = revision;
      const become = becomeOf(revision, running);
      return [
        id,
        become === text ? status(out, text) : out.cell('dim', become),
        id === active ? out.cell('bold', 'active') : '',
        brief(artefact(source_revision_config)),
        when(created_at),
        when(updated_at),
        ...(isCaused
          ? [cause.number, cause.actor_name || cause.actor, cause.reason].map((said) => clean(`${said ?? ''}`))
          : []),
      ];
    }),
  );
}

/** Lines that say what differs, member by member. */
export function changeLines({ out }: Context, changes: readonly Change[]): string[] {
  return changes.flatMap(({ member, before, after }) => [
    `  ${clean(member)}`,
    ...(before === null ? [] : [out.paint('red', `    - ${brief(before)}`)]),
    ...(after === null ? [] : [out.paint('green', `    + ${brief(after)}`)]),
  ]);
}

function members(config: Readonly<Record<string, unknown>>): (readonly [string, string])[] {
  return Object.entries(config)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => [name.replaceAll('_', ' '), brief(value)] as const);
}

function artefact({ image_uri, repo_ref, source_tarball_path }: Readonly<Record<string, unknown>>): unknown {
  return image_uri ?? repo_ref ?? source_tarball_path;
}
