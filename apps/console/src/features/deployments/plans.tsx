import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { answered, api, ApiError, type Schemas } from '../../api/client';
import { Changes } from '../../ui/changes';
import { Dialog } from '../../ui/dialog';
import { Form, Reason, TextField } from '../../ui/form';
import { Copy, Problem, Skeleton, Text } from '../../ui/parts';
import { Figures } from './scores/figures-table';
import { useScores } from './scores/scores';
import { useRefresh, useWorkspace, writeHeaders } from './data';
import css from './deployments.module.css';
import {
  artefact,
  type Deployment,
  hasRun,
  type Revision,
  revisionName,
  revisionState,
  type Shown,
  withSources,
} from './words';

type Planned = Schemas['DeploymentPlan'];

const KEEP = 'Keep the present secrets';
/** The end of a warning of the service, which names its parameter. */
const KEEP_SECRETS = 'keep_secrets=true keeps the present secrets';

/** Changes that a write will make, before it is sent; uploaded sources of `revisions` are named by digest and person. */
export function Plan({ revisions = [], ...planned }: Planned & { revisions?: readonly Revision[] }) {
  const { changes, creates_revision, pauses_push, skips_commit, warnings = [] } = planned;
  return (
    <section className={css.plan} aria-label="Plan">
      <Changes changes={withSources(changes, revisions)} none="No member differs." />
      <ul>
        <li>
          {creates_revision ? 'Makes a revision, which is rolled out at once.' : 'Makes no revision; what runs stays.'}
        </li>
        {pauses_push && <li>Pauses push-to-deploy until what is to be deployed is changed.</li>}
        {skips_commit && (
          <li>
            Skips commit <code>{skips_commit.slice(0, 12)}</code>: pushes of it make no revisions.
          </li>
        )}
        {warnings.map((text) => (
          <li key={text}>
            <b className={css.bad}>Warning:</b> <Text>{text.replace(KEEP_SECRETS, `“${KEEP}” below keeps them`)}</Text>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** A plan of the service, made anew each time that it is looked at. */
function usePlan(deployment: string, what: string, ask: () => Promise<unknown>) {
  const w = useWorkspace();
  return useQuery({
    // Not among the queries of the deployment: a plan that is being looked at does not change by itself.
    queryKey: ['plan', w, deployment, what],
    queryFn: async () => (await ask()) as Planned,
    staleTime: Infinity,
    gcTime: 0,
  });
}

/** Carries out what was planned. When somebody else was faster, the plan is made again on top of that. */
function useCarryOut(id: string, plan: { refetch(): unknown }, write: () => Promise<unknown>, done: () => void) {
  const refresh = useRefresh(id);
  const carryOut = useMutation({
    mutationFn: write,
    onSuccess: async () => {
      await refresh();
      done();
    },
    onError: (error) => isStale(error) && plan.refetch(),
  });
  return { ...carryOut, stale: isStale(carryOut.error) };
}

/** True when a change was refused because the deployment has changed since. */
export function isStale(error: Error | null): boolean {
  return error instanceof ApiError && error.status === 412;
}

/** The same as a command; what a text holds cannot end its quotes. */
function AsCommand({ words }: { words: readonly string[] }) {
  const command = words
    .map((word) => (/^[\w./:=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
    .join(' ');
  return (
    <details className={css.asCommand}>
      <summary>As a command</summary>
      <code>
        <Text>{command}</Text>
      </code>
      <Copy kind="quiet" text={command}>
        Copy
      </Copy>
    </details>
  );
}

type RollBackProps = Shown & { readonly revision: Revision; readonly onClose: () => void };

/** Deploys an earlier revision again, once its plan has been seen. */
export function RollBackDialog({ deployment, revisions, revision, onClose }: RollBackProps) {
  const [reason, setReason] = useState('');
  const [keep, setKeep] = useState(false);
  const [skip, setSkip] = useState(false);
  const path = { deployment_id: deployment.id, revision_id: revision.id };
  const redeploy = (dryRun: object, etag?: string | null) => {
    const query = { ...dryRun, ...(keep && { keep_secrets: true }), ...(skip && { skip_commit: true }) };
    const params = { path, query, header: writeHeaders(reason, etag) };
    return answered(api.POST('/v2/deployments/{deployment_id}/revisions/{revision_id}/redeploy', { params }));
  };
  const choices = [...(keep ? ['--keep-secrets'] : []), ...(skip ? ['--skip-commit'] : [])];
  const plan = usePlan(deployment.id, ['redeploy', revision.id, ...choices].join(' '), () =>
    redeploy({ dry_run: 'plan' }),
  );
  const carryOut = useCarryOut(deployment.id, plan, () => redeploy({}, plan.data!.etag), onClose);
  const again = deployment.latest_revision_id === revision.id;
  const live = revisions.find(({ id }) => id === deployment.active_revision_id);
  const isGood = hasRun(revision, live);
  const action = again ? 'Redeploy' : isGood ? 'Roll back to' : 'Try again';
  const latest = revisions.find(({ id }) => id === deployment.latest_revision_id);
  const left = deployment.source_revision_config.repo_commit_sha ?? '';
  const canSkip =
    deployment.source_config.build_on_push === true &&
    left !== '' &&
    left !== revision.source_revision_config.repo_commit_sha;
  const active = live ?? deployment.standing?.live;
  const others = active && active.id !== revision.id ? [active] : [];
  // The list of revisions asks for the same, so that it is there.
  const scores = useScores(revisions.includes(live ?? revision) ? revisions : [...revisions, ...others]);
  const command = ['fairlead', 'deployments', 'rollback', deployment.name, revision.id];
  const { short, full } = artefact(revision);
  return (
    <Dialog title={`${action} ${revisionName(revision)} — plan`} onClose={onClose}>
      <p className={css.lead}>
        Deploys <b title={full}>{revision.upload ? short : full}</b> again.
        {!isGood && ` It has never run well (${revisionState(revision, live, deployment).word.toLowerCase()}).`}
        {latest && !again && ` Against ${revisionName(latest)}, the latest revision:`}
      </p>
      {plan.error && <Problem error={plan.error} retry={() => void plan.refetch()} />}
      {!plan.data && !plan.error && <Skeleton rows={3} />}
      {plan.data && <Plan {...plan.data} revisions={[...revisions, revision]} />}
      <section className={css.known} aria-label="Scores">
        <Figures
          of={[{ ...revision, part: 'target' }, ...others.map((one) => ({ ...one, part: 'live' }))]}
          scores={scores}
        />
      </section>
      {carryOut.stale && (
        <p role="alert" className={css.moved}>
          The deployment changed while this plan was open. The plan above stands on top of that now: look, and confirm
          once more.
        </p>
      )}
      <Form
        action={again ? 'Redeploy' : isGood ? 'Roll back' : 'Try again'}
        busy={carryOut.isPending}
        disabled={!plan.data || plan.isFetching}
        error={carryOut.stale ? undefined : carryOut.error}
        onSubmit={() => carryOut.mutate()}
        onCancel={onClose}
      >
        {!again && (
          <label className={css.check}>
            <input type="checkbox" checked={keep} onChange={(event) => setKeep(event.target.checked)} />
            {KEEP}
          </label>
        )}
        {canSkip && (
          <label className={css.check}>
            <input type="checkbox" checked={skip} onChange={(event) => setSkip(event.target.checked)} />
            Skip only commit <code>{left.slice(0, 12)}</code>; later pushes deploy
          </label>
        )}
        <Reason value={reason} onChange={setReason} />
        <AsCommand words={[...command, ...choices, ...(reason === '' ? [] : ['--reason', reason])]} />
      </Form>
    </Dialog>
  );
}

interface ActProps {
  readonly deployment: Deployment;
  readonly title: string;
  /** Sentences about the effects of the action. */
  readonly lead: string;
  readonly action: string;
  readonly act: (header: ReturnType<typeof writeHeaders>) => Promise<unknown>;
  readonly needsReason?: boolean;
  readonly onClose: () => void;
}

/** Does something at once that has no plan. */
function ActDialog({ deployment, title, lead, action, act, needsReason, onClose }: ActProps) {
  const [reason, setReason] = useState('');
  const refresh = useRefresh(deployment.id);
  const acting = useMutation({
    mutationFn: () => act(writeHeaders(reason)),
    onSuccess: async () => {
      await refresh();
      onClose();
    },
  });
  return (
    <Dialog title={title} onClose={onClose}>
      <p className={css.lead}>{lead}</p>
      <Form
        action={action}
        busy={acting.isPending}
        error={acting.error}
        onSubmit={() => acting.mutate()}
        onCancel={onClose}
      >
        <Reason value={reason} onChange={setReason} required={needsReason} />
      </Form>
    </Dialog>
  );
}

/** Lets a revision through that its gates hold. */
export function OverrideDialog({ revision, ...rest }: Closable & { revision: string }) {
  const path = { deployment_id: rest.deployment.id, revision_id: revision };
  return (
    <ActDialog
      {...rest}
      title="Deploy it anyway"
      lead="The revision is deployed whatever its gates say. The history tells who did it, and why."
      action="Deploy"
      needsReason
      act={(header) =>
        answered(
          api.POST('/v2/deployments/{deployment_id}/revisions/{revision_id}/override', { params: { path, header } }),
        )
      }
    />
  );
}

/** Ends the rollout of a revision. */
export function InterruptDialog({ revision, ...rest }: Closable & { revision: Revision }) {
  const path = { deployment_id: rest.deployment.id, revision_id: revision.id };
  return (
    <ActDialog
      {...rest}
      title={`Interrupt ${revisionName(revision)}`}
      lead="The running step is stopped. What is live stays live."
      action="Interrupt"
      act={(header) =>
        answered(
          api.POST('/v2/deployments/{deployment_id}/revisions/{revision_id}/interrupt', { params: { path, header } }),
        )
      }
    />
  );
}

const CONTROLS = {
  Stop: 'What runs is ended, and requests are refused until it is started again.',
  Start: 'What was stopped runs again.',
  Restart: 'What runs is ended and started again.',
} as const;
export type Control = keyof typeof CONTROLS;

/** Stops, starts or restarts what runs. */
export function ControlDialog({ action, ...rest }: Closable & { action: Control }) {
  const path = { deployment_id: rest.deployment.id };
  const route = `/v2/deployments/{deployment_id}/${action.toLowerCase() as Lowercase<Control>}` as const;
  return (
    <ActDialog
      {...rest}
      title={`${action} ${rest.deployment.name}`}
      lead={CONTROLS[action]}
      action={action}
      act={(header) => answered(api.POST(route, { params: { path, header } }))}
    />
  );
}

interface Closable {
  readonly deployment: Deployment;
  readonly onClose: () => void;
}

interface DeleteProps {
  readonly deployment: Deployment;
  readonly onClose: () => void;
  readonly onDeleted: () => void;
}

/** Deletes a deployment, once its name has been typed. */
export function DeleteDialog({ deployment, onClose, onDeleted }: DeleteProps) {
  const [reason, setReason] = useState('');
  const [name, setName] = useState('');
  const [project, setProject] = useState(false);
  const remove = (query: object, etag?: string | null) => {
    const params = {
      path: { deployment_id: deployment.id },
      query: { delete_tracing_project: project, ...query },
      header: writeHeaders(reason, etag),
    };
    return answered(api.DELETE('/v2/deployments/{deployment_id}', { params }));
  };
  const plan = usePlan(deployment.id, 'delete', () => remove({ dry_run: 'plan' }));
  const carryOut = useCarryOut(deployment.id, plan, () => remove({}, plan.data!.etag), onDeleted);
  const secrets = deployment.secrets.length;
  return (
    <Dialog title="Delete this deployment" onClose={onClose}>
      <section className={css.plan} aria-label="Plan">
        <ul>
          <li>What runs is taken away, and nothing brings it back.</li>
          <li>
            {secrets} secret{secrets === 1 ? ' goes' : 's go'} with it, and the logs of all revisions.
          </li>
          <li>Its history stays, and can be read and exported.</li>
        </ul>
      </section>
      {plan.error && <Problem error={plan.error} retry={() => void plan.refetch()} />}
      {carryOut.stale && (
        <p role="alert" className={css.moved}>
          The deployment changed while this was open. Confirm once more to delete it all the same.
        </p>
      )}
      <Form
        action="Delete for good"
        danger
        busy={carryOut.isPending}
        disabled={name !== deployment.name || !plan.data || plan.isFetching}
        error={carryOut.stale ? undefined : carryOut.error}
        onSubmit={() => carryOut.mutate()}
        onCancel={onClose}
      >
        <TextField
          label={`Type its name, ${deployment.name}`}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <label className={css.check}>
          <input type="checkbox" checked={project} onChange={(event) => setProject(event.target.checked)} />
          Delete its tracing project with all runs as well
        </label>
        <Reason value={reason} onChange={setReason} />
        <AsCommand words={['fairlead', 'deployments', 'delete', deployment.name]} />
      </Form>
    </Dialog>
  );
}
