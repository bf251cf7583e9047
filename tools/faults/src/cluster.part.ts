import { execFileSync } from 'node:child_process';
import { type Courier, type Random, type Service, until } from '@fairlead/e2e/testing';
import type { Part } from './part';

/** The processes of one application of a cluster, which starts them again when they end. */
export class ClusterPart implements Part {
  constructor(
    readonly name: string,
    private readonly cluster: Service,
    private readonly courier: Courier,
    private readonly random: Random,
  ) {}

  /** Kills one of them. */
  async kill(): Promise<void> {
    const before = this.pids();
    const pid = before[this.random.below(before.length)]!;
    if (this.name === 'gateway') this.courier.expectBreak();
    process.kill(pid, 'SIGKILL');
    await until(() => this.pids().filter((one) => !before.includes(one)).length > 0);
  }

  async stop(): Promise<void> {}

  private pids(): number[] {
    const processes = execFileSync('ps', ['-e', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' }).split('\n');
    return processes.flatMap((line) => {
      const [pid, parent, ...args] = line.trim().split(/\s+/);
      return Number(parent) === this.cluster.process.pid && args.join(' ').includes(`/apps/${this.name}/`)
        ? Number(pid)
        : [];
    });
  }
}
