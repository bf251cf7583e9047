import { spawnSync } from 'node:child_process';
import {
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
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
  PATH,
  readOnly,
  RESTORE,
  SHELL,
  SHORT_LIVED,
  SMALL,
  TRIAL_MS,
} from './mount-script.process';
import { quotedAlways as quoted } from './recipes/source-tree';

/** Folders of the system that a command sees. Others, where sockets and the files of people are, it does not have. */
const SYSTEM = [
  ...['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/etc', '/opt', '/nix/store'],
  ...['/home/linuxbrew/.linuxbrew', '/var/lib/ca-certificates', '/sys/devices/system'],
];
const DEVICES = ['null', 'zero', 'full', 'random', 'urandom', 'tty'];

/** Its processes end with the server: `setpriv` ends unshare then, which ends the first process of the namespaces. */
const UNSHARE = [
  ...['setpriv', '--pdeathsig', 'KILL', 'unshare', '--user', '--map-current-user', '--keep-caps'],
  ...['--mount', '--pid', '--ipc', '--fork', '--kill-child'],
];
const DROP = ['setpriv', ...DROPPED, '/bin/sh', '-c'];
/** The first process of the namespaces: it gives the command its variables, waits for it, and ends all that it leaves. */
const FIRST = `${RESTORE}
ulimit -c 0
"$@"
exit $?`;

/**
 * Runs commands of a server that is not root in namespaces of Linux, which keep them from the files and processes of the
 * server's user: they see the system read-only, Node.js, and the folder of their deployment.
 */
export class Namespaces {
  private works = false;

  /** `root`: folder of the deployments' folders, in the data directory of the server. */
  constructor(private readonly root: string) {}

  /** Tries whether commands are confined from now on. Answers why not; undefined when they are. */
  begin(): string | undefined {
    this.works = false;
    if (process.platform !== 'linux') return 'only Linux has them';
    const folder = join(this.root, '.trial');
    const secret = join(this.root, '.secret');
    try {
      for (const name of [...OWN_FOLDERS, 'builds']) mkdirSync(join(folder, name), { recursive: true });
      writeFileSync(secret, '');
      const trial = this.confined(folder, ['/bin/sh', '-c', trialOf(folder, secret)], { PATH });
      const [command, ...words] = trial.words;
      const options = { env: trial.env, cwd: '/', timeout: TRIAL_MS, encoding: 'utf8', killSignal: 'SIGKILL' } as const;
      const { stderr, error, status } = spawnSync(command!, words, options);
      this.works = status === 0 && existsSync(join(folder, 'data', 'written'));
      return this.works ? undefined : (error?.message ?? (stderr.trim().split('\n')[0] || 'they hide nothing'));
    } catch (error) {
      return (error as Error).message;
    } finally {
      rmSync(folder, { recursive: true, force: true });
      rmSync(secret, { force: true });
    }
  }

  /**
   * Command that starts a command of a deployment, whose folder is given, in namespaces of its own; the given command
   * where that does not work.
   */
  enter(folder: string, words: readonly string[], env: Command['env']): Command {
    return this.works ? this.confined(folder, words, env) : { words, env };
  }

  private confined(folder: string, words: readonly string[], env: Command['env']): Command {
    return {
      words: [...UNSHARE, ...SHELL, '-c', this.setUp(folder), 'sh', FIRST, 'sh', ...words],
      env: later(env),
    };
  }

  /**
   * A script that makes the file system of a command and becomes the first process. Mounts are beneath /tmp, as the
   * folders of the system are not there, until it becomes the root; what was the root is at /old until all is taken
   * from it.
   */
  private setUp(folder: string): string {
    const seen = [...node(), realpathOf('/etc/resolv.conf')].filter((path) => path !== undefined);
    const hidden = hiddenFrom(dirname(this.root));
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
      'mkdir /dev/shm /dev/pts; ln -s pts/ptmx /dev/ptmx; ln -s /proc/self/fd /dev/fd',
      'ln -s /proc/self/fd/0 /dev/stdin; ln -s /proc/self/fd/1 /dev/stdout; ln -s /proc/self/fd/2 /dev/stderr',
      mount(`--bind ${quoted(join(folder, 'shm'))}`, '/dev/shm'),
      `${mount('-t devpts -o newinstance,ptmxmode=666,nosuid,noexec devpts', '/dev/pts')} 2> /dev/null || :`,
      'umount -l /old; rmdir /old; mount -o remount,bind,ro /',
      `exec ${DROP.join(' ')} "$@"`,
    ].join('\n');
  }
}

/** Ends with 0 where a secret of the server is hidden, Node.js runs, and nothing can undo that. */
function trialOf(folder: string, secret: string): string {
  return [
    `[ ! -e ${quoted(secret)} ]`,
    `${quoted(process.execPath)} --version > /dev/null`,
    `[ "$(readlink /proc/self/ns/pid)" != ${quoted(readlinkSync('/proc/self/ns/pid'))} ]`,
    'grep -q "^CapEff:.0*$" /proc/self/status',
    'grep -q "^NoNewPrivs:.1" /proc/self/status',
    '! unshare --user true 2> /dev/null',
    `: > ${quoted(join(folder, 'data', 'written'))}`,
    `: > /dev/shm/written && [ -e ${quoted(join(folder, 'shm', 'written'))} ]`,
  ].join(' && ');
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

function realpathOf(path: string): string | undefined {
  return existsSync(path) ? realpathSync(path) : undefined;
}

/** Where something is when the root has moved to /old: an absolute link on the way there would lead into the new root. */
function inOld(path: string): string {
  return join('/old', realpathSync(path));
}

function hide(path: string): string {
  if (lstatSync(path).isDirectory()) return mount('-t tmpfs -o size=1m,mode=755 fairlead', path);
  return mount('--bind /old/dev/null', path);
}
