import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Suspense, useEffect, useRef, useState } from 'react';
import { answered, answeredWhole, api, upload } from '../../../api/client';
import { late } from '../../../ui/late';
import { Dialog } from '../../../ui/dialog';
import { Drop, Drops } from '../../../ui/drop';
import { Form, Reason, TextField } from '../../../ui/form';
import { bytes, whole } from '../../../ui/format';
import { Skeleton, Text } from '../../../ui/parts';
import { useWorkspace, writeHeaders } from '../data';
import css from '../deployments.module.css';
import { MOST_PACKED, pack } from './pack';
import { chosenFolder, droppedEntry, type Entry, sourceFiles, type SourceFiles } from './source-files';
import type { Deployment } from '../words';

// It brings what a page of logs needs.
const Rollout = late(async () => (await import('../rollout')).Rollout);

const ARCHIVE = /\.(tar\.gz|tgz)$/i;
/** Labels of the fields, by the members of the requests. */
const LABELS = {
  name: 'Name of the deployment',
  graph_config_path: 'Path of the graph configuration, if there is one',
};
const CONFIG = 'langgraph.json';
/** Files that are listed; of more, their number is said. */
const MOST_LISTED = 1000;

/** The source to deploy: the files of a folder, or an archive as it is. */
interface Source {
  readonly name: string;
  readonly folder?: SourceFiles;
  readonly archive?: File;
}

interface Step {
  readonly doing: string;
  readonly percent: number;
}

interface DeployProps {
  /** The deployment that gets a new version; without it, the one with the name that is typed, which may be new. */
  readonly deployment?: Deployment;
  readonly onClose: () => void;
}

/** Deploys a folder or an archive of this browser's machine, and follows its build to the end. */
export function DeployDialog({ deployment, onClose }: DeployProps) {
  const w = useWorkspace();
  const navigate = useNavigate();
  const [source, setSource] = useState<Source>();
  const [problem, setProblem] = useState<string>();
  const [typed, setTyped] = useState<string>();
  const [typedConfig, setConfig] = useState<string>();
  const [reason, setReason] = useState('');
  const [step, setStep] = useState<Step>();
  const stop = useRef<AbortController>(undefined);
  useEffect(() => () => stop.current?.abort(), []);

  const name = deployment?.name ?? (typed ?? source?.name ?? '').trim();
  const named = useNamed(deployment ? '' : name);
  const target = deployment ?? named.data;
  const isOther = target !== undefined && target.source !== 'internal_source';
  const found = source?.folder?.files.some(({ path }) => path === CONFIG) ? CONFIG : '';
  const isMissing = (path: string) => path !== '' && source?.folder?.files.every((file) => file.path !== path) === true;
  const config = typedConfig ?? target?.source_revision_config.graph_config_path ?? found;

  const choose = async (read: () => Promise<Source>) => {
    setSource(undefined);
    setProblem(undefined);
    deploying.reset();
    try {
      setSource(await read());
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  const deploying = useMutation({
    mutationFn: async () => {
      stop.current = new AbortController();
      const { signal } = stop.current;
      const archive = await packed(source!, signal, setStep);
      const { body: to, warning } = target ? { body: target } : await created(name);
      const revision = await released(to.id, archive, { signal, config, reason, onStep: setStep });
      return { id: to.id, revision, warning };
    },
    onSettled: () => setStep(undefined),
  });
  const made = deploying.data;
  const close = () => {
    if (made && !deployment) {
      void navigate({ to: '/o/$w/host/deployments/$deployment', params: { w, deployment: made.id } });
    }
    onClose();
  };

  if (made) {
    return (
      <Dialog title={`Deploy ${name}`} onClose={close}>
        <Suspense fallback={<Skeleton />}>
          {made.warning && (
            <p role="alert" className={css.moved}>
              <Text>{made.warning}</Text>
            </p>
          )}
          <Rollout {...made} action={deployment ? 'Close' : 'Go to the deployment'} onClose={close} />
        </Suspense>
      </Dialog>
    );
  }
  return (
    <Dialog title={deployment ? `Deploy a new version of ${name}` : 'Deploy a folder'} onClose={close}>
      <Form
        action="Deploy"
        unsaved={source && true}
        busy={deploying.isPending}
        disabled={!source || name === '' || isOther || isMissing(config) || (!deployment && named.isFetching)}
        error={deploying.error}
        labels={LABELS}
        onSubmit={() => deploying.mutate()}
        onCancel={close}
      >
        <Drops>
          <Drop
            label="Folder with the source"
            folder
            onFiles={(files) => void choose(async () => ofFolder(chosenFolder(files)))}
            onDrop={(dropped) => void choose(ofDropped(dropped))}
          >
            Choose it, or drop it here.
          </Drop>
          <Drop
            label="Or an archive, .tar.gz"
            accept=".tar.gz,.tgz,application/gzip"
            onFiles={([file]) => void choose(async () => ofArchive(file!))}
            onDrop={(dropped) => void choose(ofDropped(dropped))}
          >
            It is sent as it is, 200 MiB at most.
          </Drop>
        </Drops>
        {problem && (
          <p role="alert" className={css.bad}>
            <Text>{problem}</Text>
          </p>
        )}
        {source && <Sent {...source} />}
        <div className={css.fields}>
          {!deployment && (
            <TextField
              label={LABELS.name}
              value={typed ?? source?.name ?? ''}
              onChange={(event) => setTyped(event.target.value)}
              hint={
                target &&
                (isOther ? (
                  <span className={css.bad}>This name belongs to a deployment that is not uploaded.</span>
                ) : (
                  'There is a deployment with this name: this becomes its next version.'
                ))
              }
            />
          )}
          <TextField
            label={LABELS.graph_config_path}
            placeholder={CONFIG}
            value={config}
            onChange={(event) => setConfig(event.target.value)}
            hint={isMissing(config) && <span className={css.bad}>This file is not among those that are sent.</span>}
          />
          <Reason value={reason} onChange={setReason} />
        </div>
        <div role="status">
          {step && (
            <p className={css.inline}>
              <progress max={100} value={step.percent} aria-label={step.doing} /> {step.doing}: {step.percent} %
            </p>
          )}
        </div>
      </Form>
    </Dialog>
  );
}

/** The source, shown before it is sent. */
function Sent({ name, folder, archive }: Source) {
  if (archive) {
    return (
      <section className={css.plan} aria-label="What is sent">
        <p>
          <Text>{archive.name}</Text>, {bytes(archive.size)}
        </p>
      </section>
    );
  }
  const { files, leftOut, bytes: size } = folder!;
  return (
    <section className={css.plan} aria-label="What is sent">
      <p>
        <Text>{name}</Text>: {whole(files.length)} {files.length === 1 ? 'file' : 'files'}, {bytes(size)} before packing
      </p>
      <Paths title="Files" paths={files.map(({ path }) => path)} />
      {leftOut.length > 0 && (
        <Paths title="Left out" paths={leftOut.map(({ path, because }) => `${path} (${because})`)} />
      )}
    </section>
  );
}

function Paths({ title, paths }: { title: string; paths: readonly string[] }) {
  const rest = paths.length - MOST_LISTED;
  return (
    <details className={css.everything}>
      <summary>
        {title} ({whole(paths.length)})
      </summary>
      <div className={css.stack}>
        <pre tabIndex={0}>
          {paths.slice(0, MOST_LISTED).map((path) => (
            <div key={path}>
              <Text>{path}</Text>
            </div>
          ))}
          {rest > 0 && `and ${whole(rest)} more`}
        </pre>
      </div>
    </details>
  );
}

async function ofFolder(folder: Entry): Promise<Source> {
  return { name: folder.name, folder: await sourceFiles(folder) };
}

async function ofArchive(archive: File): Promise<Source> {
  const [one, other] = new Uint8Array(await archive.slice(0, 2).arrayBuffer());
  if (one !== 0x1f || other !== 0x8b) throw new Error(`${archive.name} is no archive that gzip has made.`);
  if (archive.size > MOST_PACKED)
    throw new Error(`${archive.name} has ${bytes(archive.size)}: 200 MiB at most are taken.`);
  return { name: archive.name.replace(ARCHIVE, ''), archive };
}

/** Reads the entries of a drop at once, because they are gone afterwards; their files are read later. */
function ofDropped({ items }: DataTransfer): () => Promise<Source> {
  const entries = [...items].flatMap((item) => item.webkitGetAsEntry() ?? []);
  return async () => {
    const [entry, ...more] = entries.map(droppedEntry);
    if (!entry || more.length > 0) throw new Error('Drop one folder or one archive.');
    return entry.file ? ofArchive(await entry.file()) : ofFolder(entry);
  };
}

/** The deployment with a name, if there is one. */
function useNamed(name: string) {
  const w = useWorkspace();
  return useQuery({
    queryKey: ['deployments', w, { name }],
    queryFn: async ({ signal }) => {
      const { resources } = await answered(
        api.GET('/v2/deployments', { params: { query: { name, limit: 1 } }, signal }),
      );
      return resources[0] ?? null;
    },
    select: (found) => found ?? undefined,
    enabled: name !== '',
  });
}

async function packed({ folder, archive }: Source, signal: AbortSignal, onStep: (step: Step) => void): Promise<Blob> {
  if (archive) return archive.slice(0, archive.size, 'application/gzip');
  const onBytes = counted('Packing', folder!.bytes, onStep);
  let done = 0;
  onBytes(0);
  return pack(folder!.files, { signal, onBytes: (count) => onBytes((done += count)) });
}

async function created(name: string): Promise<{ body: Deployment; warning?: string }> {
  const body = { name, source: 'internal_source', source_config: {}, source_revision_config: {}, secrets: [] };
  return (await answeredWhole(api.POST('/v2/deployments', { body: body as never }))) as { body: Deployment };
}

interface Release {
  readonly signal: AbortSignal;
  readonly config: string;
  readonly reason: string;
  readonly onStep: (step: Step) => void;
}

/** Uploads an archive and makes a revision of it. Answers its id. */
async function released(id: string, archive: Blob, { signal, config, reason, onStep }: Release): Promise<string> {
  const path = { deployment_id: id };
  const { upload_url, object_path } = await answered(
    api.POST('/v2/deployments/{deployment_id}/upload-url', { params: { path }, signal }),
  );
  // The service is reached where everything else of it is.
  const { pathname, search } = new URL(upload_url);
  await upload(pathname + search, archive, { signal, onSent: counted('Uploading', archive.size, onStep) });
  const source_revision_config = { source_tarball_path: object_path, ...(config && { graph_config_path: config }) };
  const { latest_revision_id } = (await answered(
    api.PATCH('/v2/deployments/{deployment_id}', {
      params: { path, header: writeHeaders(reason) },
      body: { revision_source: 'internal_source', source_revision_config } as never,
    }),
  )) as Deployment;
  return latest_revision_id!;
}

/** Tells each further percent once. */
function counted(doing: string, all: number, onStep: (step: Step) => void): (done: number) => void {
  let told = -1;
  return (done) => {
    const percent = all === 0 ? 100 : Math.min(100, Math.floor((100 * done) / all));
    if (percent > told) onStep({ doing, percent: (told = percent) });
  };
}
