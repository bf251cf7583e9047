import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { StepFailed } from '../../port/executor';

const run = promisify(execFile);

const LIMIT_MS = 10_000;

/**
 * Closes the ports of programs to everybody but the server and the program's own user, and the networks of containers to
 * everybody but the server, on the whole machine. As root with nftables only: elsewhere every program of the machine can
 * connect to them.
 */
export class AppPorts {
  private readonly table: string;
  private works = false;

  /** `root`: folder of the deployments' folders; each installation of the machine has rules of its own. */
  constructor(root: string) {
    this.table = `inet fairlead_${createHash('sha256').update(root).digest('hex').slice(0, 16)}`;
  }

  /** Sets up the rules, in the place of those of earlier processes. Answers whether ports are closed from now on. */
  begin(): boolean {
    const { table } = this;
    try {
      if (process.getuid?.() !== 0) return false;
      const rules = `
        table ${table}
        delete table ${table}
        table ${table} {
          set ports { type inet_service; }
          set owners { type inet_service . uid; }
          set networks { type ipv4_addr; flags interval; }
          chain local {
            type filter hook output priority 0;
            oifname "lo" tcp flags & (syn | ack) == syn tcp dport @ports meta skuid != 0 tcp dport . meta skuid != @owners reject with tcp reset
            tcp flags & (syn | ack) == syn ip daddr @networks meta skuid != 0 reject with tcp reset
          }
          chain forwarded {
            type filter hook forward priority 0;
            tcp flags & (syn | ack) == syn ip daddr @networks reject with tcp reset
          }
          chain remote {
            type filter hook input priority 0;
            iifname != "lo" tcp flags & (syn | ack) == syn tcp dport @ports reject with tcp reset
          }
        }`;
      execFileSync('nft', ['-f', '-'], { input: rules, timeout: LIMIT_MS, stdio: ['pipe', 'ignore', 'ignore'] });
      this.works = true;
    } catch {
      // It is not installed, or the system does not let it change anything.
    }
    return this.works;
  }

  /** Closes a port to all but a user; answers what opens it again. @throws StepFailed */
  async close(port: number, uid: number | undefined): Promise<() => Promise<unknown>> {
    if (uid === undefined) return async () => undefined;
    return this.change((verb) => [
      `${verb} element ${this.table} ports { ${port} }`,
      `${verb} element ${this.table} owners { ${port} . ${uid} }`,
    ]);
  }

  /** Closes a network of containers to all but the server; answers what opens it again. @throws StepFailed */
  closeNetwork(subnet: string): Promise<() => Promise<unknown>> {
    return this.change((verb) => [`${verb} element ${this.table} networks { ${subnet} }`]);
  }

  private async change(changes: (verb: string) => string[]): Promise<() => Promise<unknown>> {
    if (!this.works) return async () => undefined;
    const apply = (verb: string) => run('nft', [changes(verb).join('; ')], { timeout: LIMIT_MS });
    await apply('add').catch((error: { stderr?: string }) => {
      throw new StepFailed(`nft does not close the port of the program to others: ${error.stderr ?? ''}`);
    });
    // The rules may be gone already.
    return () => apply('delete').catch(() => undefined);
  }

  end(): void {
    if (!this.works) return;
    this.works = false;
    try {
      execFileSync('nft', ['delete', 'table', ...this.table.split(' ')], { timeout: LIMIT_MS, stdio: 'ignore' });
    } catch {
      // Somebody else has removed it.
    }
  }
}
