import { createReadStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, relative, resolve, sep } from 'node:path';
import { Readable } from 'node:stream';
import type { Command } from 'commander';
import { examples } from '../output/help';
import { reasonHeader } from '../api/api';
import { type Context, does } from '../api/context';
import { show } from '../api/deployment-answers';
import { findDeployment } from '../api/lookups';
import type { Deployment, Health } from '../api/records';
import { EXIT, Failure, Usage } from '../failure';
import { RECORDED } from '../output/deployments.show';
import { bytes, clean, counted } from '../output/text';
import { reaches } from '../table/group';
import { UploadProgress } from '../upload/upload.progress';
import { addressOf } from './deployment-open.command';
import { DeploymentLogs } from './deployment-logs.command';
import { gatesIn } from './deployment-gates.commands';
import { exitCodeOf, waitForRollout } from './deployment-wait.command';
import { LINK, pack, type SourceFiles, sourceFiles } from './source-folder';

const ALL = '/v2/deployments';
const CONFIG = 'langgraph.json';
/** Largest archive that the service takes. */
const MOST_BYTES = 200 * 1024 * 1024;

interface DeployOptions {
  readonly name?: string;
  readonly config?: string;
  readonly installCommand?: string;
  readonly buildCommand?: string;
  readonly gates?: string;
  readonly reason?: string;
  readonly dryRun?: boolean;
  readonly detach?: boolean;
}

export function addDeploy(all: Command): void {
  const deploy = all
    .command('deploy')
    .description('deploy a folder: pack it, upload it, and follow its build until it runs (0) or has failed (1)')
    .argument('[folder]', 'with the source of the agent', '.')
    .option('--name <name>', 'of the deployment, which is created if there is none (default: the name of the folder)')
    .option('--config <path>', 'the graph configuration in the folder (default: langgraph.json, where there is one)')
    .option('--install-command <command>', 'installs its packages, from now on; empty: what its files call for')
    .option('--build-command <command>', 'builds it, from now on; empty: its script "build"')
    .option('--gates <file>', 'JSON or YAML with all gates from now on, which hold this revision too')
    .option('--reason <text>', 'why, for the history')
    .option('--dry-run', 'list what would be packed, and what is left out and why; send nothing')
    .option('--detach', 'end once the source is uploaded')
    .addHelpText(
      'after',
      `
What .gitignore and .dockerignore name is left out, and so are .git,
node_modules, virtual environments and .env. --dry-run lists it.`,
    );
  examples(deploy, 'deploy', "deploy agents/support --name support-agent --reason 'release 2'");
  const one = `${ALL}/{deployment_id}`;
  reaches(deploy, `POST ${ALL}`, `POST ${one}/upload-url`, `PUT ${one}/uploads/{upload_id}`, `PATCH ${one}`);
  does<DeployOptions>(deploy, async (context, [given], options) => {
    const folder = resolve(given!);
    const source = await sourceFiles(folder);
    const config = configOf(folder, source, options.config);
    const gates = options.gates === undefined ? undefined : gatesIn(options.gates);
    if (options.dryRun) return showFiles(context, folder, source);
    const archive = await packed(context, folder, source);
    try {
      const { id } = await deploymentNamed(context, options.name ?? basename(folder));
      const path = await uploaded(context, id, archive);
      return await released(context, id, { source_tarball_path: path, graph_config_path: config }, options, gates);
    } finally {
      await rm(archive.folder, { recursive: true, force: true });
    }
  });
}

/** A packed source in a folder of its own, which is removed with it. */
interface Archive {
  readonly folder: string;
  readonly path: string;
  readonly bytes: number;
}

/** The path of the graph configuration in the source. @throws Usage when one is named that is not packed */
function configOf(folder: string, { files, leftOut }: SourceFiles, named: string | undefined): string | undefined {
  if (named === undefined) return files.includes(CONFIG) ? CONFIG : undefined;
  const path = relative(folder, resolve(folder, named)).split(sep).join('/');
  if (files.includes(path)) return path;
  const out = leftOut.find((one) => one.path === path || (one.path.endsWith('/') && path.startsWith(one.path)));
  throw new Usage(
    out ? `--config: ${named} is left out (${out.because}).` : `--config: there is no file ${named} in ${folder}.`,
  );
}

/** Lists what a deployment of the folder would send. */
async function showFiles({ out }: Context, folder: string, { files, leftOut }: SourceFiles): Promise<void> {
  const sizes = await Promise.all(files.map(async (file) => (await stat(join(folder, file))).size));
  const size = sizes.reduce((sum, one) => sum + one, 0);
  if (out.json) return out.text(JSON.stringify({ files, left_out: leftOut, bytes: size }));
  for (const file of files) out.line(`+ ${clean(file)}`);
  for (const { path, because } of leftOut) out.line(`- ${clean(path)}  (${clean(because)})`);
  out.note(`${counted(files.length, 'file')} of ${folder}, ${bytes(size)} before packing. Nothing was sent.`);
}

async function packed({ out }: Context, folder: string, { files, leftOut }: SourceFiles): Promise<Archive> {
  const links = leftOut.filter(({ because }) => because === LINK).map(({ path }) => path);
  if (links.length > 0 && !out.json) out.warn(`Links are left out: ${links.map(clean).join(', ')}.`);
  const temporary = await mkdtemp(join(tmpdir(), 'fairlead-deploy-'));
  try {
    const path = join(temporary, 'source.tar.gz');
    await out.waiting('Packing', () => pack(folder, files, path));
    const { size } = await stat(path);
    const said = `${counted(files.length, 'file')} of ${folder}, ${bytes(size)} packed`;
    if (size > MOST_BYTES) throw new Usage(`${said}: the service takes ${bytes(MOST_BYTES)}. See .gitignore.`);
    if (!out.json) out.note(`${said}.`);
    return { folder: temporary, path, bytes: size };
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    throw error;
  }
}

/** The deployment of this name, which is created if there is none. */
async function deploymentNamed({ api, out }: Context, name: string): Promise<Pick<Deployment, 'id'>> {
  try {
    return await findDeployment(api, name);
  } catch (error) {
    if (!(error instanceof Failure) || error.exitCode !== EXIT.notFound) throw error;
  }
  const body = { name, source: 'internal_source', source_config: {}, source_revision_config: {}, secrets: [] };
  const { text } = await api.command({ method: 'POST', path: ALL, body: JSON.stringify(body) });
  if (!out.json) out.note(`Created the deployment ${name}.`);
  return JSON.parse(text) as Deployment;
}

/** Uploads the archive. Answers the path by which a revision names it. */
async function uploaded({ api, out }: Context, id: string, archive: Archive): Promise<string> {
  const { text } = await api.send({ method: 'POST', path: `${ALL}/${id}/upload-url`, body: '{}' });
  const { upload_url, object_path } = JSON.parse(text) as { upload_url: string; object_path: string };
  // The service is reached where everything else of it is.
  const { pathname, search } = new URL(upload_url);
  const progress = new UploadProgress(out, 'Uploading', archive.bytes);
  const body = () => {
    progress.restart();
    return Readable.from(
      counting(archive.path, (count) => progress.addBytes(count)),
      { objectMode: false },
    );
  };
  const headers = { 'content-type': 'application/gzip', 'content-length': String(archive.bytes) };
  try {
    await api.send({ method: 'PUT', path: pathname + search, body, headers });
  } catch (error) {
    progress.stop();
    throw error;
  }
  progress.done();
  return object_path;
}

/** Makes the revision and follows it to its end. Answers the exit code. */
async function released(
  context: Context,
  id: string,
  source_revision_config: object,
  { installCommand: install_command, buildCommand: build_command, reason, detach }: DeployOptions,
  gates: readonly unknown[] | undefined,
): Promise<number | void> {
  const { api, out } = context;
  const given = [install_command, build_command, gates].some((value) => value !== undefined);
  const source_config = given ? { install_command, build_command, gates } : undefined;
  const body = JSON.stringify({ revision_source: 'internal_source', source_config, source_revision_config });
  const path = `${ALL}/${id}`;
  const answer = await api.command({ method: 'PATCH', path, body, headers: reasonHeader(reason) });
  const { latest_revision_id } = JSON.parse(answer.text) as Deployment;
  if (detach) return show(context, answer);
  const status = await rolledOut(context, id, latest_revision_id!);
  const deployment = await api.get<Deployment>(path);
  const { latest_revision: latest, detail } = await api.get<Health>(`${path}/health`);
  const address = addressOf(deployment);
  if (out.json) out.text(JSON.stringify(deployment));
  else if (status !== 'DEPLOYED') out.error(latest?.reason ?? `The revision is ${status}.`);
  else if (deployment.executor === 'record') out.note(`Deployed by ${RECORDED}.`);
  else out.line(address ?? clean(detail));
  return exitCodeOf(status);
}

/** Prints what building and deploying write; as JSON, only the deployment is printed. Answers the last status. */
async function rolledOut(context: Context, id: string, revision: string): Promise<string> {
  if (context.out.json) return (await waitForRollout(context, id, revision)).status;
  return context.out.waiting('Deploying', () => new DeploymentLogs(context, id, revision).follow(['build', 'deploy']));
}

async function* counting(path: string, onBytes: (count: number) => void): AsyncGenerator<Buffer> {
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    onBytes(chunk.length);
    yield chunk;
  }
}
