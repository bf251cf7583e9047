import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, readlinkSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { mountsOfOwn, mountsOverMachine, OWN_FOLDERS, SHARED_MEMORY, SHORT_LIVED } from './mount-script.client';
import { quotedAlways as quoted } from '../recipes/source-tree';

export interface Command {
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** The user that a program runs as; its own when the server is not root. */
export interface User {
  readonly uid: number;
  readonly gid: number;
}

const PATH = '/usr/bin:/bin:/usr/sbin:/sbin';
/** Time that a trial may take (ms), on a machine that has much else to do. */
const TRIAL_MS = 60_000;
const NOBODY: User = { uid: 65_534, gid: 65_534 };
/** Mounts of the machine that begin or end later do so for programs too: a disk can be taken away while one runs. */
const OF_ROOT = ['unshare', '--mount', '--ipc', '--propagation', 'slave'];
/** Its processes end with the server: `setpriv` ends unshare then, which ends the first process of the namespaces. */
const OF_USER = [
  ...['setpriv', '--pdeathsig', 'KILL', 'unshare', '--user', '--map-current-user', '--keep-caps'],
  ...['--mount', '--pid', '--ipc', '--fork', '--kill-child'],
];
/**
 * Only bash can close files with numbers above 9; in another shell, such a file makes the command fail. Without the
 * option, bash reads the .bashrc of its user where its standard input is a socket, as it is here.
 */
const SHELL = existsSync('/bin/bash') ? ['/bin/bash', '--norc'] : ['/bin/sh'];
/** Capabilities are needed for the mounts only. Setuid programs, such as sudo, have no effect afterwards. */
const DROPPED = ['--no-new-privs', '--bounding-set=-all', '--inh-caps=-all', '--ambient-caps=-all'];
/** Prefix of the variables of a command until it is confined: what runs before must not heed them, such as LD_PRELOAD. */
const LATER = '_FAIRLEAD_';
const NAMES = '_FAIRLEAD';
const RESTORE = `
for ${NAMES} in $${NAMES}; do
  eval "command export $${NAMES}=\\"\\$${LATER}$${NAMES}\\"; unset ${LATER}$${NAMES}"
done
unset ${NAMES}`;
/** The first process of a pid namespace waits for the command, and ends all that it leaves. */
const FIRST = 'ulimit -c 0\n"$@"\nexit $?';

/**
 * Runs commands of deployments in namespaces of Linux. Of a server that is root, they have the user of their deployment
 * and write nothing but its folders. Of another one, they see the system read-only, Node.js, and the folder of their
 * deployment, and no files and processes of the server's user.
 */
export class ProcessNamespaces {
  private works = false;

  /** `root`: folder of the deployments' folders, in the data directory of a server that is not root. */
  constructor(
    private readonly root: string,
    private readonly isRoot = process.getuid?.() === 0,
  ) {}

  get isUsed(): boolean {
    return this.works;
  }

  /** Tries whether commands are confined from now on. Returns why not; undefined when they are. */
  begin(): string | undefined {
    this.works = false;
    if (process.platform !== 'linux') return 'only Linux has them';
    const [folder, secret] = [join(this.root, '.trial'), join(this.root, '.secret')];
    const name = `fairlead-trial-${randomUUID()}`;
    const files = [...SHORT_LIVED, SHARED_MEMORY].filter(existsSync).map((place) => join(place, name));
    try {
      for (const own of [...OWN_FOLDERS, 'builds']) {
        mkdirSync(join(folder, own), { recursive: true });
        if (this.isRoot) chownSync(join(folder, own), NOBODY.uid, NOBODY.gid);
      }
      writeFileSync(secret, '');
      const trial = [...trialOf([...files, join(folder, 'data', name)]), ...(this.isRoot ? [] : trialOfUser(secret))];
      const { words, env } = this.confined(folder, ['/bin/sh', '-c', trial.join(' && ')], { PATH }, NOBODY);
      const options = { env, cwd: '/', timeout: TRIAL_MS, encoding: 'utf8', killSignal: 'SIGKILL' } as const;
      const { stderr, error, status } = spawnSync(words[0]!, words.slice(1), options);
      const isOwn = ['data', 'shm'].every((own) => existsSync(join(folder, own, name)));
      this.works = status === 0 && isOwn && !files.some((file) => existsSync(file));
      return this.works ? undefined : (error?.message ?? (stderr.trim().split('\n')[0] || 'they hide nothing'));
    } catch (error) {
      return (error as Error).message;
    } finally {
      for (const path of [...files, folder, secret]) rmSync(path, { recursive: true, force: true });
    }
  }

  /**
   * Returns what starts a command of a deployment, whose folder and user are given, in namespaces of its own; undefined
   * where that does not work.
   */
  enter(folder: string, words: readonly string[], env: Command['env'], user?: User): Command | undefined {
    return this.works ? this.confined(folder, words, env, user) : undefined;
  }

  private confined(folder: string, words: readonly string[], env: Command['env'], user?: User): Command {
    const { isRoot } = this;
    const own = isRoot && user ? ['--reuid', String(user.uid), '--regid', String(user.gid), '--clear-groups'] : [];
    const script = isRoot ? mountsOverMachine(realpathSync(folder)) : mountsOfOwn(folder, dirname(this.root));
    const start = ['setpriv', ...own, ...DROPPED, '/bin/sh', '-c', `${RESTORE}\n${isRoot ? 'exec "$@"' : FIRST}`, 'sh'];
    return {
      words: [...(isRoot ? OF_ROOT : OF_USER), ...SHELL, '-c', script, 'sh', ...start, ...words],
      env: later(env),
    };
  }
}

function later(env: Command['env']): Record<string, string> {
  const named = Object.entries(env).filter(([name]) => /^[A-Za-z_]\w*$/.test(name));
  const all = named.map(([name, value]) => [LATER + name, value] as const);
  return { ...Object.fromEntries(all), PATH, [NAMES]: named.map(([name]) => name).join(' ') };
}

function trialOf(files: readonly string[]): string[] {
  return [
    ...files.map((file) => `: > ${quoted(file)}`),
    'grep -q "^CapEff:.0*$" /proc/self/status',
    'grep -q "^NoNewPrivs:.1" /proc/self/status',
    isOther('ipc'),
  ];
}

/** Commands that all succeed where a secret of the server is hidden, Node.js runs, and nothing can undo that. */
function trialOfUser(secret: string): string[] {
  return [
    `[ ! -e ${quoted(secret)} ]`,
    `${quoted(process.execPath)} --version > /dev/null`,
    isOther('pid'),
    '! unshare --user true 2> /dev/null',
  ];
}

function isOther(namespace: string): string {
  return `[ "$(readlink /proc/self/ns/${namespace})" != ${quoted(readlinkSync(`/proc/self/ns/${namespace}`))} ]`;
}
