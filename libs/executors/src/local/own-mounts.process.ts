import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  bind,
  CLOSE,
  type Command,
  DROPPED,
  isIn,
  later,
  mount,
  node,
  OWN_FOLDERS,
  readOnly,
  RESTORE,
  SHELL,
  SHORT_LIVED,
  SMALL,
  TRIAL_MS,
  type User,
} from './mount-script.process';
import { quotedAlways as quoted } from './recipes/source-tree';

/** Mounts of the machine that begin or end later do so for programs too: a disk can be taken away while one runs. */
const UNSHARE = ['unshare', '--mount', '--ipc', '--propagation', 'slave'];
const SHARED_MEMORY = '/dev/shm';
const QUEUES = '/dev/mqueue';
/** Types of file systems in which the kernel lets a user without rights store nothing, or which programs must write. */
const OF_KERNEL = [
  ...['proc', 'sysfs', 'cgroup', 'cgroup2', 'devpts', 'nsfs', 'securityfs', 'debugfs', 'tracefs', 'configfs', 'pstore'],
  ...['bpf', 'binfmt_misc', 'autofs', 'efivarfs', 'fusectl', 'rpc_pipefs', 'selinuxfs', 'mqueue'],
];
/**
 * Limits shared memory of System V, queues of messages and semaphores (32,000, which take 2 MB), which would otherwise
 * take all memory of a machine without control groups. A user namespace does not give the right to do so.
 */
const IPC_LIMITS = `
( echo $((${256 * 1024 ** 2} / $(getconf PAGESIZE))) > /proc/sys/kernel/shmall; echo 64 > /proc/sys/kernel/msgmni
  echo 1000 32000 500 1000 > /proc/sys/kernel/sem ) 2> /dev/null || :`;
/** The user of the trial. */
const NOBODY: User = { uid: 65_534, gid: 65_534 };

/**
 * Runs commands of a server that is root in mount and ipc namespaces of Linux, as the users of their deployments. The
 * folders for short-lived files and for shared memory are those of the deployment there, and everything else of the
 * machine is read-only.
 */
export class OwnMounts {
  private works = false;

  /** `root`: folder of the deployments' folders. */
  constructor(private readonly root: string) {}

  /** True when commands have mounts of their own. */
  get isUsed(): boolean {
    return this.works;
  }

  /** Tries whether commands have mounts of their own from now on. Returns why not; undefined when they have. */
  begin(): string | undefined {
    this.works = false;
    if (process.platform !== 'linux') return 'only Linux has them';
    const folder = join(this.root, '.trial');
    const name = `fairlead-trial-${randomUUID()}`;
    const files = places().map((place) => join(place, name));
    try {
      for (const own of OWN_FOLDERS) {
        mkdirSync(join(folder, own), { recursive: true });
        chownSync(join(folder, own), NOBODY.uid, NOBODY.gid);
      }
      const { words, env } = this.confined(folder, NOBODY, ['/bin/sh', '-c', trialOf(files)], {});
      const options = { env, cwd: '/', timeout: TRIAL_MS, encoding: 'utf8', killSignal: 'SIGKILL' } as const;
      const { stderr, error, status } = spawnSync(words[0]!, words.slice(1), options);
      this.works = status === 0 && !files.some((file) => existsSync(file));
      return this.works ? undefined : (error?.message ?? (stderr.trim().split('\n')[0] || 'they hide nothing'));
    } catch (error) {
      return (error as Error).message;
    } finally {
      for (const path of [...files, folder]) rmSync(path, { recursive: true, force: true });
    }
  }

  /** Returns what starts a command of a deployment with mounts of its own; undefined where that does not work. */
  enter(folder: string, user: User, words: readonly string[], env: Command['env']): Command | undefined {
    return this.works ? this.confined(folder, user, words, env) : undefined;
  }

  private confined(folder: string, { uid, gid }: User, words: readonly string[], env: Command['env']): Command {
    const drop = ['setpriv', '--reuid', String(uid), '--regid', String(gid), '--clear-groups', ...DROPPED];
    const start = ['/bin/sh', '-c', `${RESTORE}\nexec "$@"`, 'sh', ...words];
    return {
      words: [...UNSHARE, ...SHELL, '-c', setUp(realpathSync(folder)), 'sh', ...drop, ...start],
      env: later(env),
    };
  }
}

/** A script that makes the mounts and becomes the command in its arguments. */
function setUp(folder: string): string {
  const shm = realpathSync(SHARED_MEMORY);
  const shortLived = places().filter((place) => place !== shm);
  // A folder that is mounted at one of these hides what is below it, where tests have their folders.
  const below = [folder, ...node()].filter((path) => isIn(path, shortLived));
  const hidden = shortLived.filter((place) => below.some((path) => isIn(path, [place])));
  const own = (name: string) => `--bind ${quoted(join(folder, name))}`;
  return [
    'set -e; cd /',
    CLOSE,
    'umask 022',
    IPC_LIMITS,
    ...(hidden.length === 0 ? [] : [mount(`${SMALL} fairlead`, shm)]),
    ...below.map((path) => bind(path, path, shm)),
    ...hidden.map((place) => mount(`${SMALL},mode=1777 fairlead`, place)),
    ...below.map((path) => bind(join(shm, path), path)),
    ...(hidden.length === 0 ? [] : [`umount -R ${quoted(shm)}`]),
    ...(below.includes(folder) ? [] : [mount(`--bind ${quoted(folder)}`, folder)]),
    ...shortLived.filter((place) => !hidden.includes(place)).map((place) => mount(own('tmp'), place)),
    mount(own('shm'), shm),
    `[ ! -d ${QUEUES} ] || ${mount('-t mqueue mqueue', QUEUES)}`,
    readOnly([folder, ...shortLived, shm].map(quoted), OF_KERNEL, ':'),
    'exec "$@"',
  ].join('\n');
}

/** Folders that a command finds its own at, as this machine names them. */
function places(): string[] {
  return [...new Set([...SHORT_LIVED, SHARED_MEMORY].filter(existsSync).map((path) => realpathSync(path)))];
}

/** A script that ends with 0 where these files can be written, no rights are left, and shared memory is its own. */
function trialOf(files: readonly string[]): string {
  return [
    ...files.map((file) => `: > ${quoted(file)}`),
    'grep -q "^CapEff:.0*$" /proc/self/status',
    'grep -q "^NoNewPrivs:.1" /proc/self/status',
    `[ "$(readlink /proc/self/ns/ipc)" != ${quoted(readlinkSync('/proc/self/ns/ipc'))} ]`,
  ].join(' && ');
}
