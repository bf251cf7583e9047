import { useMutation } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { answered, api, type Schemas } from '../../../api/client';
import { useEnded } from '../../../api/held';
import { Changes, type MemberChange } from '../../../ui/changes';
import { Dialog } from '../../../ui/dialog';
import { Choice, Form, Reason, TextArea, TextField } from '../../../ui/form';
import { Text } from '../../../ui/parts';
import { changesBetween, type Draft, draftOf, flat, nested, patchOf, rebased } from './change';
import { readDeployment, useRefresh, writeHeaders } from '../data';
import css from '../deployments.module.css';
import { isStale, Plan } from '../plans';
import { type SecretDraft, SecretFields } from './secret-fields';
import { artefact, type Deployment, type Revision, revisionName, type Shown } from '../words';

interface Member {
  readonly member: string;
  readonly label: string;
  readonly kind: 'text' | 'number' | 'check' | 'upload';
}

const CONFIG = 'source_config.';
const REVISION = 'source_revision_config.';
const BUILT: readonly Member[] = [
  { member: `${REVISION}repo_ref`, label: 'Branch, tag or commit', kind: 'text' },
  { member: `${REVISION}graph_config_path`, label: 'Path of the graph configuration', kind: 'text' },
  { member: `${CONFIG}build_on_push`, label: 'Deploy each push to the branch', kind: 'check' },
];
const IMAGE: readonly Member[] = [{ member: `${REVISION}image_uri`, label: 'Image with tag or digest', kind: 'text' }];
/** The members of each source that have a field; all others are in the JSON. */
const BY_SOURCE: Readonly<Record<string, readonly Member[]>> = {
  codehost: BUILT,
  external_container: IMAGE,
  internal_container: IMAGE,
  internal_source: [{ member: `${REVISION}source_tarball_path`, label: 'Uploaded source', kind: 'upload' }],
};
const COMMON: readonly Member[] = [
  { member: `${CONFIG}custom_url`, label: 'Address at which users reach it', kind: 'text' },
  { member: `${CONFIG}resource_spec.cpu`, label: 'CPU, cores', kind: 'number' },
  { member: `${CONFIG}resource_spec.memory_mb`, label: 'Memory, MB', kind: 'number' },
  { member: `${CONFIG}resource_spec.min_scale`, label: 'Fewest replicas', kind: 'number' },
  { member: `${CONFIG}resource_spec.max_scale`, label: 'Most replicas', kind: 'number' },
];
/** Labels of all fields, by the members of the request. */
const LABELS = Object.fromEntries(
  [...COMMON, ...Object.values(BY_SOURCE).flat()].map(({ member, label }) => [member, label]),
);
/** Stands for the stored value of a secret. */
const KEPT = '********';

interface Planned {
  readonly body: Record<string, unknown>;
  readonly plan: Schemas['DeploymentPlan'];
}

/** Changes that somebody else made meanwhile, and the members that both changed. */
interface Merge {
  readonly theirs: readonly MemberChange[];
  readonly conflicts: readonly string[];
}

interface ChangeProps extends Shown {
  /** Shows the fields of the secrets alone. */
  readonly secretsOnly?: boolean;
  readonly onClose: () => void;
}

/** Changes a deployment: a form, then its plan, then the change itself, on top of what others changed meanwhile. */
export function ChangeDialog({ deployment, etag, revisions, secretsOnly = false, onClose }: ChangeProps) {
  const [base, setBase] = useState({ deployment, etag });
  const [draft, setDraft] = useState<Draft>(() => draftOf(deployment));
  const [fields, setSecrets] = useState<readonly SecretDraft[]>(() => secretsAtFirst(deployment, secretsOnly));
  const secrets = fields.filter(({ name, value }) => name !== '' || value !== undefined);
  const [planned, setPlanned] = useState<Planned>();
  const [merge, setMerge] = useState<Merge>();
  const [reason, setReason] = useState('');
  const refresh = useRefresh(deployment.id);

  const plan = useMutation({
    mutationFn: async () => {
      const offered = secretsSent(base.deployment, secrets);
      const body = { ...patchOf(draftOf(base.deployment), draft), ...(offered && { secrets: offered }) };
      return { body, plan: (await send(body, { dry_run: 'plan' })) as Planned['plan'] };
    },
    onSuccess: setPlanned,
    onError: stale,
  });
  const apply = useMutation({
    mutationFn: () => send(planned!.body, {}),
    onSuccess: async () => {
      await refresh();
      onClose();
    },
    onError: stale,
  });

  function send(body: Record<string, unknown>, query: { dry_run?: 'plan' }) {
    const params = { path: { deployment_id: deployment.id }, query, header: writeHeaders(reason, base.etag) };
    return answered(api.PATCH('/v2/deployments/{deployment_id}', { params, body: body as never }));
  }

  /** Puts the changes on top of what somebody else made of the deployment meanwhile. */
  async function stale(error: Error) {
    if (!isStale(error)) return;
    const now = await readDeployment(deployment.id);
    const [before, theirs] = [draftOf(base.deployment), draftOf(now.body)];
    const { draft: next, conflicts } = rebased(before, draft, theirs);
    const names = secretChanges(base.deployment, kept(now.body));
    setMerge({ theirs: [...changesBetween(before, theirs), ...names], conflicts });
    setSecrets(rebasedSecrets(base.deployment, secrets, now.body));
    setDraft(next);
    setBase({ deployment: now.body, etag: now.etag });
    setPlanned(undefined);
  }

  const ended = useEnded();
  // A plan may hold values of secrets.
  useEffect(() => {
    if (ended && !apply.isPending && planned?.body.secrets) setPlanned(undefined);
  }, [ended]);
  const set = (member: string, value: unknown) => setDraft((old) => ({ ...old, [member]: value }));
  const edited =
    changesBetween(draftOf(base.deployment), draft).length > 0 || secretsSent(base.deployment, secrets) !== undefined;

  if (planned) {
    return (
      <Dialog title="Change — plan" onClose={onClose}>
        <Plan {...planned.plan} revisions={revisions} />
        <Form
          action="Apply"
          unsaved
          busy={apply.isPending}
          disabled={planned.plan.changes.length === 0}
          error={isStale(apply.error) ? undefined : apply.error}
          labels={LABELS}
          onSubmit={() => apply.mutate()}
          onCancel={() => setPlanned(undefined)}
        >
          <Reason value={reason} onChange={setReason} />
        </Form>
      </Dialog>
    );
  }
  return (
    <Dialog
      title={
        <>
          {secretsOnly ? 'Secrets of' : 'Change'} <Text>{deployment.name}</Text>
        </>
      }
      onClose={onClose}
    >
      {merge && <Merged {...merge} />}
      <Form
        action="Show the plan"
        unsaved={edited || undefined}
        busy={plan.isPending}
        disabled={!edited}
        error={isStale(plan.error) ? undefined : plan.error}
        labels={LABELS}
        onSubmit={() => plan.mutate()}
        onCancel={onClose}
      >
        {!secretsOnly && (
          <div className={css.fields}>
            {[...(BY_SOURCE[deployment.source] ?? []), ...COMMON].map((one) => (
              <MemberField
                key={one.member}
                {...one}
                value={draft[one.member]}
                revisions={revisions}
                onChange={(value) => set(one.member, value)}
              />
            ))}
          </div>
        )}
        <SecretFields secrets={fields} onChange={setSecrets} />
        {!secretsOnly && <Everything draft={draft} onChange={setDraft} />}
      </Form>
    </Dialog>
  );
}

interface FieldProps extends Member {
  readonly value: unknown;
  readonly revisions: readonly Revision[];
  readonly onChange: (value: unknown) => void;
}

function MemberField({ label, kind, value, revisions, onChange }: FieldProps) {
  if (kind === 'upload') {
    const options = uploadsOf(revisions, typeof value === 'string' ? value : '');
    return (
      <Choice
        label={label}
        value={typeof value === 'string' ? value : ''}
        options={options}
        onChange={(event) => onChange(event.target.value || undefined)}
      />
    );
  }
  if (kind === 'check') {
    return (
      <label className={css.check}>
        <input type="checkbox" checked={value === true} onChange={(event) => onChange(event.target.checked)} />
        {label}
      </label>
    );
  }
  return (
    <TextField
      label={label}
      inputMode={kind === 'number' ? 'decimal' : undefined}
      value={value === undefined || value === null ? '' : String(value)}
      onChange={({ target }) => {
        const number = Number(target.value);
        const isNumber =
          kind === 'number' && target.value !== '' && !Number.isNaN(number) && !target.value.endsWith('.');
        onChange(target.value === '' ? undefined : isNumber ? number : target.value);
      }}
    />
  );
}

/** The sources that revisions have, by their paths: the newest revision of each names it. */
function uploadsOf(revisions: readonly Revision[], now: string): Record<string, string> {
  const uploads: Record<string, string> = now === '' ? { '': 'None yet: deploy a folder' } : {};
  for (const revision of revisions) {
    const { source_tarball_path: path } = revision.source_revision_config;
    if (path) uploads[path] ??= `${revisionName(revision)}: ${artefact(revision).short}`;
  }
  if (now !== '') uploads[now] ??= 'The present one';
  return uploads;
}

function Everything({ draft, onChange }: { draft: Draft; onChange: (draft: Draft) => void }) {
  const [text, setText] = useState<string>();
  const [problem, setProblem] = useState<string>();
  const edit = (next: string) => {
    setText(next);
    try {
      onChange(flat(JSON.parse(next)));
      setProblem(undefined);
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  return (
    <details className={css.everything}>
      <summary>Everything as JSON</summary>
      <TextArea
        label="Members that are left out stay as they are"
        rows={12}
        value={text ?? JSON.stringify(nested(draft), null, 2)}
        onChange={(event) => edit(event.target.value)}
        onBlur={() => problem === undefined && setText(undefined)}
        hint={problem && <span className={css.bad}>{problem}</span>}
      />
    </details>
  );
}

function Merged({ theirs, conflicts }: Merge) {
  return (
    <section className={css.moved} role="alert">
      <p>
        Somebody else changed this deployment meanwhile. Your changes now stand on top of theirs
        {conflicts.length > 0 && `; both of you changed ${conflicts.join(', ')}, and yours is kept`}. What they changed:
      </p>
      <Changes changes={theirs} none="Nothing that can be changed here: only its status moved on." />
    </section>
  );
}

/** Stored secrets; for a deployment without any, a field for the first one. */
function secretsAtFirst(deployment: Deployment, withField: boolean): SecretDraft[] {
  const stored = kept(deployment);
  return withField && stored.length === 0 ? [{ name: '' }] : stored;
}

function kept({ secrets }: Deployment): SecretDraft[] {
  return secrets.map(({ name }) => ({ name }));
}

/** The whole list that a PATCH takes; undefined when no secret changes. */
function secretsSent(deployment: Deployment, secrets: readonly SecretDraft[]) {
  if (secretChanges(deployment, secrets).length === 0) return undefined;
  return secrets.map(({ name, value }) => ({ name, value: value ?? KEPT }));
}

/** Which secrets are set, replaced and removed. Their values are no part of it. */
function secretChanges(deployment: Deployment, secrets: readonly SecretDraft[]): MemberChange[] {
  const before = new Set(deployment.secrets.map(({ name }) => name));
  const after = new Set(secrets.map(({ name }) => name));
  return [
    ...secrets
      .filter(({ name, value }) => value !== undefined || !before.has(name))
      .map(({ name }) => ({ member: `secrets.${name}`, before: before.has(name) ? 'kept' : null, after: 'set' })),
    ...[...before]
      .filter((name) => !after.has(name))
      .map((name) => ({ member: `secrets.${name}`, before: 'kept', after: null })),
  ];
}

/** One's own changes of the secrets on top of what is stored now. */
function rebasedSecrets(before: Deployment, mine: readonly SecretDraft[], now: Deployment): SecretDraft[] {
  const own = new Map(secretChanges(before, mine).map((change) => [change.member.slice('secrets.'.length), change]));
  const stored = kept(now).filter(({ name }) => !own.has(name));
  return [...stored, ...mine.filter(({ name }) => own.has(name))];
}
