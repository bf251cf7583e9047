import { execFile, type ExecFileOptions } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { readdir, readlink, rm } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import { promisify } from 'node:util';
import { OWN_FOLDERS } from './mount-script.client';
import { type Command, ProcessNamespaces, type User } from './process-namespaces.client';
import { kill, processesOf } from './process-use.client';
import { type ContainerImage, programFolders, type Recipe } from '../recipes/recipe';
import type { SourceTree } from '../recipes/source-tree';
import { removeStrays, strayBytes } from './stray-files.store';

const run = promisify(execFile);

export interface StartedRevision {
  readonly deploymentId: string;
  readonly tenantId: string;
  readonly name: string;
  readonly revisionId: string;
  /** Name of the folder of its build, or id of its image. */
  readonly build: string;
  readonly recipe: Recipe;
  readonly image?: ContainerImage;
  /** Present for a revision that is held, which has data of its own. */
  readonly isPreview?: true;
}

/**
 * State of a deployment that survives the process: the revisions that were started last, the newest first, and whether
 * it was stopped.
 */
export interface KeptApp {
  readonly stopped: boolean;
  /** The part of its address that it has to itself; null while another one has it. Absent in files of earlier versions. */
  readonly address?: string | null;
  readonly awake?: number;
  readonly revisions: readonly StartedRevision[];
}

/** User ids of deployments: each installation of the machine has a block of them. */
const FIRST_UID = 1_700_000_000;
const UIDS = 65_536;
const BLOCKS = 6_800;
/** Builds of a deployment that are kept, so that a roll-back builds nothing. */
export const BUILDS_KEPT = 3;
/** Processes and threads of a deployment's user, with all builds and programs: many more than control groups allow one. */
const PROCESSES = 4096;
/**
 * A shell that limits them also where there are no control groups. Shells do not agree on the name of that limit. What
 * a process leaves when it crashes would be kept outside of its folder.
 */
const LIMITED = [
  ...['/bin/sh', '-c'],
  `ulimit -u ${PROCESSES} 2> /dev/null || ulimit -p ${PROCESSES} 2> /dev/null; ulimit -c 0; exec "$@"`,
  'sh',
];
/** The files of a source that are looked at: those first that are in few folders. */
const MOST_FILES = 100_000;
/** Longest text that is read of a source, and for how long (ms). */
const LONGEST_TEXT = 1024 * 1024;
const READ_MS = 10_000;

export interface Confinement {
  /** Why programs can read what the server reads; undefined when they cannot. */
  readonly exposed?: string;
  /** Why they write to `/tmp` of the machine; undefined when they do not, or have the user of the server. */
  readonly shared?: string;
}

/**
 * The folders of deployments below one folder, each with a user and mounts of its own when the server is root, and
 * otherwise with namespaces, where the system allows them.
 */
export class AppFolders {
  private readonly namespaces: ProcessNamespaces;

  constructor(private readonly root: string) {
    this.namespaces = new ProcessNamespaces(root);
  }

  /** Keeps what is started from now on from the files of the server, and from folders that are open to all. */
  confine(): Confinement {
    const why = this.namespaces.begin();
    return process.getuid?.() === 0 ? { shared: why } : { exposed: why };
  }

  /** Makes the folder, and answers what earlier processes of the server have started; what still runs of it is ended. */
  begin(): ReadonlyMap<string, KeptApp> {
    mkdirSync(this.root, { recursive: true });
    chmodSync(this.root, 0o711);
    const found = new Map<string, KeptApp>();
    for (const id of this.ids()) {
      const folder = this.of(id);
      folder.killAll();
      const kept = folder.kept();
      if (kept) found.set(id, kept);
    }
    return found;
  }

  /** The held revisions that earlier processes of the server have let answer. */
  previews(): StartedRevision[] {
    return this.ids().flatMap((id) => this.of(id).preview() ?? []);
  }

  of(id: string): AppFolder {
    const path = join(this.root, id);
    if (!this.isMade(path)) this.make(path);
    const { uid, gid } = statSync(join(path, 'home'));
    // An earlier version has made it without.
    for (const name of OWN_FOLDERS) makeOwn(join(path, name), uid, gid);
    return new AppFolder(path, uid === process.getuid?.() ? undefined : { uid, gid }, this.namespaces);
  }

  async remove(id: string): Promise<void> {
    const path = join(this.root, id);
    if (!existsSync(path)) return;
    const folder = this.of(id);
    folder.killAll();
    await rm(path, { recursive: true, force: true });
    // Programs of an earlier version had no mounts of their own.
    if (folder.user) await removeStrays(folder.user.uid, this.root);
  }

  /** Removes the folder of all when it holds nothing: which user ids were given is kept. */
  end(): void {
    if (!existsSync(this.root) || readdirSync(this.root).length > 0) return;
    rmdirSync(this.root);
  }

  private ids(): string[] {
    return readdirSync(this.root, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
      .map(({ name }) => name);
  }

  /** A folder of root's has not been given to a user: the server was killed while it was made. */
  private isMade(path: string): boolean {
    const home = join(path, 'home');
    return existsSync(home) && (process.getuid?.() !== 0 || statSync(home).uid !== 0);
  }

  private make(path: string): void {
    // What the server writes, such as a recipe, is in folders that belong to the server.
    const uid = process.getuid?.() === 0 ? this.nextUid() : undefined;
    for (const folder of [path, join(path, 'builds')]) {
      mkdirSync(folder, { recursive: true });
      if (uid !== undefined) chownSync(folder, 0, uid);
      chmodSync(folder, 0o750);
    }
    // The one that says whose they are comes last.
    for (const name of OWN_FOLDERS) makeOwn(join(path, name), uid, uid);
  }

  /** An id that no deployment of this installation had before: files outside its folders may have outlived it. */
  private nextUid(): number {
    const file = join(this.root, 'users');
    const given = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
    writeWhole(file, String(given + 1));
    const block = createHash('sha256').update(this.root).digest().readUInt32BE() % BLOCKS;
    return FIRST_UID + block * UIDS + (given % UIDS);
  }
}

export class AppFolder {
  constructor(
    readonly path: string,
    readonly user: User | undefined,
    private readonly namespaces: ProcessNamespaces,
  ) {}

  start(words: readonly string[], env: Command['env']): Command & { readonly user?: User } {
    const { path, user, namespaces } = this;
    const limited = user ? [...LIMITED, ...words] : words;
    return namespaces.enter(path, limited, env, user) ?? { words: limited, env, user };
  }

  environment(): Record<string, string> {
    return {
      PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
      HOME: join(this.path, 'home'),
      TMPDIR: join(this.path, 'tmp'),
      DATA_DIR: join(this.path, 'data'),
      LANG: 'C.UTF-8',
      LANGGRAPH_CLI_NO_ANALYTICS: '1',
      // With a key, the LangGraph server for Python reports every hour what it has run.
      LANGSMITH_CONTROL_PLANE_API_KEY: '',
      npm_config_update_notifier: 'false',
    };
  }

  /** PATH for the commands of a build and for its program: programs that the build has installed come first. */
  environmentOf(name: string, recipe: Recipe, isPreview = false): Record<string, string> {
    const environment = this.environment();
    const build = this.build(name);
    return {
      ...environment,
      ...(isPreview && { DATA_DIR: join(this.path, 'preview') }),
      PATH: [...programFolders(recipe, build, environment.HOME!), environment.PATH].join(':'),
      ...(recipe.venv && { VIRTUAL_ENV: join(build, recipe.folder, '.venv') }),
    };
  }

  build(name: string): string {
    return join(this.path, 'builds', name);
  }

  async emptyBuild(name: string): Promise<string> {
    const folder = this.build(name);
    await this.removeBuild(name);
    mkdirSync(folder, { mode: 0o700 });
    if (this.user) chownSync(folder, this.user.uid, this.user.gid);
    return folder;
  }

  recipe(name: string): Recipe | undefined {
    return readJson(`${this.build(name)}.json`) as Recipe | undefined;
  }

  completeBuild(name: string, recipe: Recipe): void {
    writeWhole(`${this.build(name)}.json`, JSON.stringify(recipe));
  }

  kept(): KeptApp | undefined {
    return readJson(join(this.path, 'app.json')) as KeptApp | undefined;
  }

  keep(app: KeptApp): void {
    writeWhole(join(this.path, 'app.json'), JSON.stringify(app));
  }

  preview(): StartedRevision | undefined {
    return readJson(join(this.path, 'preview.json')) as StartedRevision | undefined;
  }

  keepPreview(revision: StartedRevision): void {
    writeWhole(join(this.path, 'preview.json'), JSON.stringify(revision));
  }

  /** Forgets the held revision and removes its data. */
  async endPreview(): Promise<void> {
    rmSync(join(this.path, 'preview.json'), { force: true });
    await this.clear('preview');
  }

  async prune(used: readonly string[]): Promise<void> {
    const folder = join(this.path, 'builds');
    const names = readdirSync(folder).filter((name) => !name.endsWith('.json') && !used.includes(name));
    const newest = names.sort((a, b) => statSync(join(folder, b)).ctimeMs - statSync(join(folder, a)).ctimeMs);
    const old = newest.slice(Math.max(0, BUILDS_KEPT - used.length));
    // What cannot be removed now is removed with a later one.
    for (const name of old) await this.removeBuild(name).catch(() => undefined);
  }

  /**
   * Points the state of a build at the deployment's own, at that of its held revision, or at an empty folder, which
   * `proof` is: the program then finds it at `at`, a path in its build.
   */
  async useState(at: string, which: 'state' | 'preview' | 'proof'): Promise<void> {
    const target = join(this.path, which);
    if ((await readlink(at).catch(() => undefined)) !== target) {
      await this.run('rm', ['-rf', '--', at]);
      await this.run('ln', ['-s', '--', target, at]);
    }
    if (which === 'proof') await this.clear('proof');
  }

  async clear(name: 'proof' | 'preview' | 'tmp' | 'shm'): Promise<void> {
    await this.run('find', [join(this.path, name), '-mindepth', '1', '-delete']);
  }

  /**
   * The text of a file of a build, read as the deployment's user: a program of it may put something else in its place.
   * Undefined when it is missing, cannot be read at once, or is too long.
   */
  async text(path: string): Promise<string | undefined> {
    const limits = { timeout: READ_MS, killSignal: 'SIGKILL', maxBuffer: LONGEST_TEXT } as const;
    const answer = await this.run('cat', ['--', path], limits).catch(() => undefined);
    return answer?.stdout;
  }

  async tree(root: string): Promise<SourceTree> {
    const files = new Set<string>();
    let level = [''];
    while (level.length > 0 && files.size < MOST_FILES) {
      const next: string[] = [];
      for (const folder of level) {
        const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(() => []);
        for (const entry of entries) {
          const path = posix.join(folder, entry.name);
          if (!entry.isDirectory()) files.add(path);
          else if (!['node_modules', '.git'].includes(entry.name)) next.push(path);
        }
        if (files.size >= MOST_FILES) break;
      }
      level = next;
    }
    return { files, text: (path) => this.text(join(root, path)) };
  }

  /** Removes what npm, pip and other programs keep to save time, when it has more than so many bytes; answers how many. */
  async clearCaches(most: number): Promise<number | undefined> {
    const caches = ['.npm', '.cache'].map((name) => join(this.path, 'home', name));
    const bytes = await this.size(caches);
    if (bytes <= most) return undefined;
    await this.run('find', [...caches, '-mindepth', '1', '-delete']).catch(() => undefined);
    return bytes;
  }

  /** Bytes on the disk, of its folder and of what its user has in folders that are open to all. */
  async bytes(): Promise<number> {
    const { path, user, namespaces } = this;
    return (await this.size()) + (user && !namespaces.isUsed ? await strayBytes(user.uid, dirname(path)) : 0);
  }

  async clearShortLived(): Promise<void> {
    const { path, user, namespaces } = this;
    for (const name of ['tmp', 'shm'] as const) await this.clear(name);
    if (user && !namespaces.isUsed) await removeStrays(user.uid, dirname(path));
  }

  /**
   * Bytes on the disk, of all its folders or of some. They are counted as the server's user, who sees more than the
   * deployment's does where that has taken rights from itself; links are not followed. Builds and starts wait for it: with
   * the lowest priority it would never end beside programs that use all processors.
   */
  async size(folders: readonly string[] = [this.path]): Promise<number> {
    const words = ['-c', 'exec nice -n 5 du -sk "$@" 2> /dev/null', 'sh', ...folders];
    const { stdout } = await run('/bin/sh', words, { cwd: '/', env: { PATH: '/usr/bin:/bin' } }).catch(
      (error: { stdout?: string }) => error,
    );
    const found = (stdout ?? '').match(/^\d+/gm) ?? [];
    return 1024 * found.reduce((total, size) => total + Number(size), 0);
  }

  killAll(): void {
    const { user } = this;
    if (!user) return;
    // What is started while the list is read is in the next one.
    for (let pass = 0; pass < 10; pass++) {
      const pids = processesOf(user.uid);
      if (pids.length === 0) return;
      for (const pid of pids) kill(pid);
    }
  }

  async removeBuild(name: string): Promise<void> {
    rmSync(`${this.build(name)}.json`, { force: true });
    if (!existsSync(this.build(name))) return;
    // As the user: a program of it may move the files meanwhile, so that others would be removed.
    await this.run('find', [this.build(name), '-mindepth', '1', '-delete']).catch(() => undefined);
    rmdirSync(this.build(name));
  }

  private run(command: string, args: readonly string[], limits: ExecFileOptions = {}): Promise<{ stdout: string }> {
    const { words, env, user } = this.start([command, ...args], { PATH: '/usr/bin:/bin' });
    return run(words[0]!, words.slice(1), { cwd: '/', env, ...limits, encoding: 'utf8', ...user });
  }
}

/** Makes a folder that only a user can enter, unless it is there; without an id, it is the server's own. */
function makeOwn(path: string, uid?: number, gid?: number): void {
  const isThere = existsSync(path);
  if (!isThere) mkdirSync(path, { mode: 0o700 });
  if (uid !== undefined && (!isThere || statSync(path).uid === 0)) chownSync(path, uid, gid!);
}

function readJson(path: string): unknown {
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined;
}

/** Writes a file that holds the old or the new text after a crash. */
function writeWhole(path: string, text: string): void {
  writeFileSync(`${path}.new`, text, { mode: 0o600, flush: true });
  renameSync(`${path}.new`, path);
}
