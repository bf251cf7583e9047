import { constants, existsSync, lstatSync, readdirSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { quotedAlways as quoted } from '../recipes/source-tree';

/** Folders of a deployment that its commands write; beside them are those of its builds. */
export const OWN_FOLDERS = ['data', 'state', 'proof', 'preview', 'tmp', 'shm', 'home'];
export const SHORT_LIVED = ['/tmp', '/var/tmp'];
export const SHARED_MEMORY = '/dev/shm';
const QUEUES = '/dev/mqueue';
/** Folders of the system that a command of a server that is not root sees. Sockets and the files of people are in others. */
const SYSTEM = [
  ...['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/etc', '/opt', '/nix/store'],
  ...['/home/linuxbrew/.linuxbrew', '/var/lib/ca-certificates', '/sys/devices/system'],
];
const DEVICES = ['null', 'zero', 'full', 'random', 'urandom', 'tty'];
/** Types of file systems in which the kernel lets a user without rights store nothing, or which programs must write. */
const OF_KERNEL = [
  ...['proc', 'sysfs', 'cgroup', 'cgroup2', 'devpts', 'nsfs', 'securityfs', 'debugfs', 'tracefs', 'configfs', 'pstore'],
  ...['bpf', 'binfmt_misc', 'autofs', 'efivarfs', 'fusectl', 'rpc_pipefs', 'selinuxfs', 'mqueue'],
];
/** A file system in memory for what does not fit into the folders of a deployment. */
const SMALL = '-t tmpfs -o size=64m,nosuid,nodev';
/** A file that the server was started with could lead out of the namespaces, if it is a folder. */
const CLOSE = `
for n in $(ls /proc/self/fd); do
  [ "$n" -le 2 ] || eval "exec $n>&-"
done`;
/**
 * Limits shared memory of System V, queues of messages and semaphores (32,000, which take 2 MB), which would otherwise
 * take all memory of a machine without control groups. A user namespace does not give the right to do so.
 */
const IPC_LIMITS = `
( echo $((${256 * 1024 ** 2} / $(getconf PAGESIZE))) > /proc/sys/kernel/shmall; echo 64 > /proc/sys/kernel/msgmni
  echo 1000 32000 500 1000 > /proc/sys/kernel/sem ) 2> /dev/null || :`;

/**
 * A script for root. The folders for short-lived files and shared memory become those of the deployment, and everything
 * else of the machine read-only. It becomes the command in its arguments.
 */
export function mountsOverMachine(folder: string): string {
  const shm = realpathSync(SHARED_MEMORY);
  const all = SHORT_LIVED.filter(existsSync).map((path) => realpathSync(path));
  const shortLived = [...new Set(all)].filter((place) => place !== shm);
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

/**
 * A script for another user, who has become root of a user namespace. It makes a file system that holds the system,
 * Node.js and the folder of the deployment, and nothing of `dataDir`. Mounts are beneath /tmp, as the folders of the
 * system are not there, until it becomes the root; what was the root is at /old until all is taken from it. The script
 * becomes the command in its arguments.
 */
export function mountsOfOwn(folder: string, dataDir: string): string {
  const seen = [...node(), realpathOf('/etc/resolv.conf')].filter((path) => path !== undefined);
  const hidden = hiddenFrom(dataDir);
  const isSeen = (path: string) => isIn(path, SYSTEM) && !isIn(path, hidden);
  const builds = readdirSync(join(folder, 'builds'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join('builds', name));
  const devices = DEVICES.map((name) => join('/dev', name)).filter(existsSync);
  return [
    'set -e; cd /',
    CLOSE,
    'umask 022; echo 0 > /proc/sys/user/max_user_namespaces',
    mount('-t tmpfs -o size=4m,mode=755 fairlead', '/tmp'),
    ...SYSTEM.filter(existsSync).map((path) => bind(path, path, '/tmp')),
    'mkdir -p /tmp/old /tmp/proc /tmp/dev /tmp/tmp /tmp/var/tmp; pivot_root /tmp /tmp/old; cd /',
    mount('-t proc -o nosuid,nodev,noexec proc', '/proc'),
    ...hidden.filter((path) => isIn(path, SYSTEM)).map((path) => hide(path)),
    // What is at one of these hides nothing that is mounted below it, where tests have their folders.
    ...SHORT_LIVED.map((place) =>
      isIn(folder, [place])
        ? mount(`${SMALL},mode=1777 fairlead`, place)
        : mount(`--bind ${quoted(inOld(join(folder, 'tmp')))}`, place),
    ),
    ...[...seen.filter((path) => !isSeen(path)), folder].map((path) => bind(inOld(path), path)),
    readOnly(['/', '/proc', ...SHORT_LIVED, '/old', '/old/*']),
    ...[...OWN_FOLDERS, ...builds].map((name) => join(folder, name)).map((path) => bind(inOld(path), path)),
    ...devices.map((path) => bind(`/old${path}`, path)),
    `mkdir ${SHARED_MEMORY} /dev/pts; ln -s pts/ptmx /dev/ptmx; ln -s /proc/self/fd /dev/fd`,
    'ln -s /proc/self/fd/0 /dev/stdin; ln -s /proc/self/fd/1 /dev/stdout; ln -s /proc/self/fd/2 /dev/stderr',
    mount(`--bind ${quoted(join(folder, 'shm'))}`, SHARED_MEMORY),
    `${mount('-t devpts -o newinstance,ptmxmode=666,nosuid,noexec devpts', '/dev/pts')} 2> /dev/null || :`,
    'umount -l /old; rmdir /old; mount -o remount,bind,ro /',
    'exec "$@"',
  ].join('\n');
}

/** Folders and files that hold what belongs to the server or its user. One that holds the system cannot be hidden. */
function hiddenFrom(dataDir: string): string[] {
  const files = Object.entries(process.env).flatMap(([name, path]) => (name.endsWith('_FILE') && path ? [path] : []));
  const secret = files.filter((path) => existsSync(path) && !(statSync(path).mode & constants.S_IROTH));
  const all = [dataDir, homedir(), process.cwd(), ...secret].flatMap((path) => realpathOf(path) ?? []);
  const possible = [...new Set(all)].filter(
    (path) => !SYSTEM.some((folder) => folder !== '/opt' && isIn(folder, [path])),
  );
  return possible.filter((path) => !possible.some((other) => other !== path && isIn(path, [other])));
}

/** Files and folders of Node.js and npm, where they are not of the system; they may be below the home directory. */
function node(): string[] {
  const folder = dirname(process.execPath);
  if (basename(folder) !== 'bin') return [process.execPath];
  const others = ['lib/node_modules', 'include/node', 'etc/npmrc'].map((name) => join(dirname(folder), name));
  return [folder, ...others.filter(existsSync)];
}

/**
 * Makes all that is mounted by now read-only, except at paths that match `patterns` of the shell and file systems of
 * these types. Flags that a mount has must stay: the system refuses to take them away. `otherwise` follows a mount that
 * stays as it is.
 */
function readOnly(patterns: readonly string[], types: readonly string[] = [], otherwise = 'exit 1'): string {
  return `
while read -r id parent device root at flags rest; do
  at=$(printf %b "$at"); type=\${rest#*- }
  case $at in ${patterns.join('|')}) continue;; esac
  case $flags in ro|ro,*) continue;; esac
  case \${type%% *} in ${["''", ...types].join('|')}) continue;; esac
  mount -o "remount,bind,ro\${flags#rw}" "$at" || ${otherwise}
done < /proc/self/mountinfo`;
}

/** Shows a folder, a file, or a link of the system at a path below another one. */
function bind(from: string, path: string, below = ''): string {
  const at = join('/', below, path);
  const found = lstatSync(path);
  const parent = `mkdir -p ${quoted(dirname(at))}`;
  if (found.isSymbolicLink()) return `${parent}; ln -s ${quoted(readlinkSync(path))} ${quoted(at)}`;
  if (found.isDirectory()) return `mkdir -p ${quoted(at)}; ${mount(`--rbind ${quoted(from)}`, at)}`;
  return `${parent}; [ -e ${quoted(at)} ] || : > ${quoted(at)}; ${mount(`--bind ${quoted(from)}`, at)}`;
}

function hide(path: string): string {
  if (lstatSync(path).isDirectory()) return mount('-t tmpfs -o size=1m,mode=755 fairlead', path);
  return mount('--bind /old/dev/null', path);
}

function mount(what: string, at: string): string {
  return `mount ${what} ${quoted(at)}`;
}

/** Where something is when the root has moved to /old: an absolute link on the way there would lead into the new root. */
function inOld(path: string): string {
  return join('/old', realpathSync(path));
}

function realpathOf(path: string): string | undefined {
  return existsSync(path) ? realpathSync(path) : undefined;
}

function isIn(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => folder === '/' || path === folder || path.startsWith(`${folder}/`));
}
