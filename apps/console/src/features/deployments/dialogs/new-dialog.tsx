import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { answered, answeredWhole, api, type Schemas } from '../../../api/client';
import { useEnded } from '../../../api/held';
import { Dialog } from '../../../ui/dialog';
import { Choice, Form, Reason, TextField } from '../../../ui/form';
import { Button, Problem, Skeleton, Text } from '../../../ui/parts';
import { useWorkspace, writeHeaders } from '../data';
import css from '../deployments.module.css';
import { Plan } from '../plans';
import { type SecretDraft, SecretFields } from './secret-fields';

export type Kind = 'image' | 'repository';

const LABELS = {
  name: 'Name of the deployment',
  'source_revision_config.image_uri': 'Image with tag or digest',
  'source_revision_config.repo_ref': 'Branch, tag or commit',
  'source_revision_config.graph_config_path': 'Path of the graph configuration',
};

/** Makes a deployment of an image or of a repository: what it is, then the plan, then the deployment itself. */
export function NewDialog({ kind, onClose }: { kind: Kind; onClose: () => void }) {
  const w = useWorkspace();
  const navigate = useNavigate();
  const [typed, setTyped] = useState('');
  const [image, setImage] = useState('');
  const [repository, setRepository] = useState<Schemas['Repository']>();
  const [ref, setRef] = useState<string>();
  const [config, setConfig] = useState('langgraph.json');
  const [pushes, setPushes] = useState(false);
  const [secrets, setSecrets] = useState<readonly SecretDraft[]>([]);
  const [reason, setReason] = useState('');
  const name = typed || (repository?.name ?? '');
  const source =
    kind === 'image'
      ? { source: 'external_container', source_config: {}, source_revision_config: { image_uri: image } }
      : {
          source: 'codehost',
          source_config: {
            integration_id: repository?.host_integration_id,
            repo_url: repository?.url,
            build_on_push: pushes,
          },
          source_revision_config: {
            repo_ref: ref ?? repository?.default_branch,
            ...(config && { graph_config_path: config }),
          },
        };
  const send = (query: { dry_run?: 'plan' }) => {
    const named = secrets.filter((secret) => secret.name !== '');
    const body = { name, ...source, secrets: named.map((secret) => ({ ...secret, value: secret.value ?? '' })) };
    const params = { query, header: writeHeaders(reason) };
    return answeredWhole(api.POST('/v2/deployments', { params, body: body as never }));
  };
  const ended = useEnded();
  // Values of secrets are behind the plan, where nobody clears them.
  useEffect(() => {
    if (ended && !create.isPending && secrets.length > 0) plan.reset();
  }, [ended]);
  const open = (id: string) => navigate({ to: '/o/$w/host/deployments/$deployment', params: { w, deployment: id } });
  const plan = useMutation({
    mutationFn: async () => (await send({ dry_run: 'plan' })).body as Schemas['DeploymentPlan'],
  });
  const create = useMutation({
    mutationFn: () => send({}),
    onSuccess: ({ body, warning }) => (warning === undefined ? open((body as Schemas['Deployment']).id) : undefined),
  });
  const title = kind === 'image' ? 'Deploy an image' : 'Deploy a repository';
  const made = create.data;
  if (made?.warning !== undefined) {
    return (
      <Dialog title={title} onClose={onClose}>
        <p role="alert">
          <Text>{made.warning}</Text>
        </p>
        <Button kind="main" onClick={() => void open((made.body as Schemas['Deployment']).id)}>
          Go to the deployment
        </Button>
      </Dialog>
    );
  }
  if (plan.data) {
    return (
      <Dialog title={`${title}: plan`} onClose={onClose}>
        <Plan {...plan.data} />
        <Form
          action="Deploy"
          unsaved
          busy={create.isPending}
          error={create.error}
          labels={LABELS}
          onSubmit={() => create.mutate()}
          onCancel={() => plan.reset()}
        >
          <Reason value={reason} onChange={setReason} />
        </Form>
      </Dialog>
    );
  }
  const isReady = name !== '' && (kind === 'image' ? image !== '' : repository !== undefined);
  return (
    <Dialog title={title} onClose={onClose}>
      <Form
        action="Show the plan"
        unsaved={isReady || undefined}
        busy={plan.isPending}
        disabled={!isReady}
        error={plan.error}
        labels={LABELS}
        onSubmit={() => plan.mutate()}
        onCancel={onClose}
      >
        <div className={css.fields}>
          {kind === 'repository' && <ChooseRepository chosen={repository} onChange={setRepository} />}
          <TextField label={LABELS.name} value={name} onChange={(event) => setTyped(event.target.value)} />
          {kind === 'image' && (
            <TextField
              label={LABELS['source_revision_config.image_uri']}
              placeholder="registry.example.com/agent:1.0.0"
              value={image}
              onChange={(event) => setImage(event.target.value.trim())}
            />
          )}
          {repository && (
            <>
              <TextField
                label={LABELS['source_revision_config.repo_ref']}
                value={ref ?? repository.default_branch}
                onChange={(event) => setRef(event.target.value)}
              />
              <TextField
                label={LABELS['source_revision_config.graph_config_path']}
                value={config}
                onChange={(event) => setConfig(event.target.value)}
              />
              <label className={css.check}>
                <input type="checkbox" checked={pushes} onChange={(event) => setPushes(event.target.checked)} />
                Deploy each push to the branch
              </label>
            </>
          )}
        </div>
        <SecretFields secrets={secrets} onChange={setSecrets} />
      </Form>
    </Dialog>
  );
}

interface ChooseProps {
  readonly chosen?: Schemas['Repository'];
  readonly onChange: (repository: Schemas['Repository'] | undefined) => void;
}

/** A repository of one of the code hosts of the workspace. */
function ChooseRepository({ chosen, onChange }: ChooseProps) {
  const w = useWorkspace();
  const [picked, setPicked] = useState<string>();
  const hosts = useQuery({
    queryKey: ['integrations', w],
    queryFn: ({ signal }) => answered(api.GET('/v1/integrations', { params: { query: { limit: 100 } }, signal })),
  });
  const host = picked ?? hosts.data?.resources[0]?.id;
  const repositories = useQuery({
    queryKey: ['integrations', w, host, 'repositories'],
    queryFn: ({ signal }) =>
      answered(
        api.GET('/v1/integrations/codehost/{integration_id}/repos', {
          params: { path: { integration_id: host! } },
          signal,
        }),
      ),
    enabled: host !== undefined,
    retry: false,
  });
  const error = hosts.error ?? repositories.error;
  if (error) return <Problem error={error} />;
  if (!hosts.data) return <Skeleton rows={2} />;
  if (host === undefined) return <p>There is no code host yet: add one under Connections.</p>;
  const names = repositories.data?.map((one) => [one.url, `${one.owner}/${one.name}`]) ?? [];
  return (
    <>
      <Choice
        label="Code host"
        value={host}
        options={Object.fromEntries(hosts.data.resources.map(({ id, name }) => [id, name]))}
        onChange={(event) => {
          setPicked(event.target.value);
          onChange(undefined);
        }}
      />
      <Choice
        label="Repository"
        value={chosen?.url ?? ''}
        options={{ '': repositories.data ? 'Choose one' : 'Reading the list', ...Object.fromEntries(names) }}
        onChange={(event) => onChange(repositories.data?.find(({ url }) => url === event.target.value))}
      />
    </>
  );
}
