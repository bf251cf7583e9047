import { setTimeout as delay } from 'node:timers/promises';
import type { Answer, Courier, Request } from './courier';
import { DeploymentLife } from './deployment-life';
import { ExperimentUpload } from './experiment-upload';
import { Random } from './fuzz/random';

interface TrafficOptions {
  /** At a time; those who only wait for the service to finish an earlier attempt do not count. */
  readonly clients: number;
  readonly longestPauseMs: number;
  /** Number of names of deployments; some deployments keep theirs for ever. */
  readonly names: number;
}

const USUAL: TrafficOptions = { clients: 7, longestPauseMs: 60, names: 40 };

/** Many clients at once that create, change and delete deployments and upload experiments. */
export class Traffic {
  readonly lives: DeploymentLife[] = [];
  readonly uploads: ExperimentUpload[] = [];
  /** Answers that clients should not have had. */
  readonly faults: string[] = [];
  private readonly underway = new Set<Promise<void>>();
  private readonly holders = new Map<string, Set<DeploymentLife>>();
  /** Lives that wanted a name while another had it or wanted it too. */
  private readonly contended = new Set<DeploymentLife>();
  private clients = 0;
  private started = 0;
  private stopping = false;

  constructor(
    private readonly courier: Courier,
    private readonly random: Random,
    private readonly options = USUAL,
  ) {}

  start(): void {
    while (this.clients < this.options.clients && !this.stopping) this.begin((this.started + 1) % 4 === 0);
  }

  /** Lets one more client of each kind begin right now. */
  hurry(): void {
    for (const uploads of [true, false]) this.begin(uploads);
  }

  /** Begins nothing new, and resolves when everything that was sent has been answered. */
  async stop(): Promise<void> {
    this.stopping = true;
    while (this.underway.size > 0) await Promise.all(this.underway);
  }

  private begin(uploads: boolean): void {
    this.clients += 1;
    const number = ++this.started;
    const random = new Random(this.random.below(2 ** 31));
    const client = (uploads ? this.upload(number, random) : this.live(number, random))
      .catch((error: unknown) => void this.faults.push(`client ${number}: ${String(error)}`))
      .finally(() => {
        this.underway.delete(client);
        this.clients -= 1;
        this.start();
      });
    this.underway.add(client);
  }

  private async upload(number: number, random: Random): Promise<void> {
    const upload = new ExperimentUpload(number, random);
    this.uploads.push(upload);
    await upload.send(this.deliver);
    await delay(random.below(this.options.longestPauseMs));
  }

  private async live(number: number, random: Random): Promise<void> {
    const name = `agent ${random.below(this.options.names)}`;
    const life = new DeploymentLife(name, number, random);
    this.lives.push(life);
    const holders = (this.holders.get(name) ?? new Set()).add(life);
    this.holders.set(name, holders);
    if (holders.size > 1) for (const holder of holders) this.contended.add(holder);
    await life.live(
      this.deliver,
      () => this.stopping,
      () => delay(random.below(this.options.longestPauseMs)),
    );
    if (life.refused && !this.contended.has(life)) {
      this.faults.push(`client ${number} was refused the name ${name}, which nobody else had`);
    }
    if (life.refused || life.isDeleted) holders.delete(life);
  }

  private readonly deliver = (request: Request): Promise<Answer> => {
    return this.courier.deliver(request, (waits) => {
      this.clients += waits ? -1 : 1;
      this.start();
    });
  };
}
