import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { KafkaProblem, run } from './jars';

/** Where a broker listens and where its part of the quorum does, on 127.0.0.1. */
export interface BrokerPorts {
  readonly broker: number;
  readonly controller: number;
}

const LOGGING = join(resolve(__dirname, '..'), 'log4j2.properties');
const JAVA = ['-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', `-Dlog4j2.configurationFile=${LOGGING}`];
/** Ends the broker when this process is gone, also after kill -9: then nothing holds the pipe open. */
const GUARDED = `exec 4<&0; "$@" </dev/null 3>&- 4<&- & broker=$!; echo $broker >&3; exec 3>&-
  (cat <&4 >/dev/null; kill -9 $broker 2>/dev/null) & exec 4<&-; wait $broker`;

/** One broker that is also a controller, in a JVM of its own. It keeps its data and its ports when it is started again. */
export class Broker {
  /** Called when it has ended and nobody asked for that. */
  onCrash: () => void = () => undefined;
  private child: ChildProcess | undefined;
  private expected = false;
  private ended: Promise<void> = Promise.resolve();
  private pid = 0;
  private said = '';

  constructor(
    private readonly jars: string,
    private readonly directory: string,
    private readonly id: number,
    private readonly cluster: readonly BrokerPorts[],
    /** The port that clients are told. */
    private readonly advertised: number,
    private readonly log: (line: string) => void,
  ) {}

  get name(): string {
    return `broker ${this.id}`;
  }

  /** Host and port for clients. */
  get address(): string {
    return `127.0.0.1:${this.advertised}`;
  }

  get isRunning(): boolean {
    return this.child !== undefined;
  }

  /** Starts the JVM; when it is ready to serve, clients find out. */
  async start(clusterId: string): Promise<void> {
    const settings = join(this.directory, 'server.properties');
    mkdirSync(this.directory, { recursive: true });
    writeFileSync(settings, this.settings());
    const java = ['java', ...JAVA, '-cp', join(this.jars, '*')];
    if (!existsSync(join(this.directory, 'data', 'meta.properties'))) {
      const format = ['kafka.tools.StorageTool', 'format', '-t', clusterId, '-c', settings];
      await run(java[0]!, [...java.slice(1), ...format]);
    }
    const child = spawn('sh', ['-c', GUARDED, 'guard', ...java, 'kafka.Kafka', settings], {
      stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    });
    this.child = child;
    this.expected = false;
    for (const output of [child.stdout, child.stderr]) output.on('data', (data: Buffer) => this.hear(data.toString()));
    this.ended = new Promise<void>((end) => {
      child.once('exit', () => {
        this.child = undefined;
        end();
        if (!this.expected) this.onCrash();
      });
    });
    this.pid = await new Promise<number>((known, reject) => {
      child.stdio[3]!.once('data', (data: Buffer) => known(Number(data.toString())));
      child.once('error', (error) => reject(new KafkaProblem(`A broker cannot be started: ${error.message}`)));
    });
  }

  /** Ends it in order; resolves when it is gone. */
  stop(): Promise<void> {
    return this.end('SIGTERM');
  }

  /** Ends it at once, as a crash does; resolves when it is gone. */
  kill(): Promise<void> {
    return this.end('SIGKILL');
  }

  /** End of its output. */
  get lastWords(): string {
    return this.said.trim();
  }

  private async end(signal: NodeJS.Signals): Promise<void> {
    this.expected = true;
    if (!this.child) return;
    process.kill(this.pid, signal);
    // One that has lost its quorum would wait for it.
    const patience = setTimeout(() => this.child && process.kill(this.pid, 'SIGKILL'), 10_000);
    await this.ended;
    clearTimeout(patience);
  }

  private hear(text: string): void {
    this.said = (this.said + text).slice(-2000);
    for (const line of text.split('\n').filter(Boolean)) this.log(`${this.name}: ${line}`);
  }

  private settings(): string {
    const { broker, controller } = this.cluster[this.id - 1]!;
    const copies = this.cluster.length;
    const safe = Math.max(1, copies - 1);
    return Object.entries({
      'process.roles': 'broker,controller',
      'node.id': this.id,
      'controller.quorum.voters': this.cluster.map((node, n) => `${n + 1}@127.0.0.1:${node.controller}`).join(','),
      listeners: `PLAINTEXT://127.0.0.1:${broker},CONTROLLER://127.0.0.1:${controller}`,
      'advertised.listeners': `PLAINTEXT://${this.address}`,
      'controller.listener.names': 'CONTROLLER',
      'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
      'log.dirs': join(this.directory, 'data'),
      'auto.create.topics.enable': false,
      'group.initial.rebalance.delay.ms': 0,
      'default.replication.factor': copies,
      'min.insync.replicas': safe,
      'offsets.topic.replication.factor': copies,
      'offsets.topic.num.partitions': 8,
      'transaction.state.log.replication.factor': copies,
      'transaction.state.log.min.isr': safe,
      'transaction.state.log.num.partitions': 8,
      'share.coordinator.state.topic.replication.factor': copies,
      'share.coordinator.state.topic.min.isr': safe,
    })
      .map(([name, value]) => `${name}=${value}\n`)
      .join('');
  }
}
