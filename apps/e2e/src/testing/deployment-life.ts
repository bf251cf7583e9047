import type { Answer, Request } from './courier';
import type { Random } from './fuzz/random';

type Deliver = (request: Request) => Promise<Answer>;

const MOST_STEPS = 10;
const SECRET = 'TOKEN';

/** Steps of a client with one deployment, and the number of them that were acknowledged. */
export class DeploymentLife {
  /** Known once the creation is acknowledged. */
  id: string | undefined;
  /** Every step sent, in order, in the words of `stepOf`. Each is sent only when the one before is acknowledged. */
  readonly sent: string[] = [];
  acknowledged = 0;
  /** The service refused to create it, because the name was taken. */
  refused = false;
  image = 0;
  tag: string | undefined;
  secret: string | undefined;

  constructor(
    readonly name: string,
    private readonly number: number,
    private readonly random: Random,
  ) {}

  /** Everything that was sent has been acknowledged, and the last of it was the deletion. */
  get isDeleted(): boolean {
    return this.acknowledged > 0 && this.sent[this.acknowledged - 1] === 'deletion';
  }

  /** Creates the deployment, changes it some times and in the end mostly deletes it; stops early when `stopping`. */
  async live(deliver: Deliver, stopping: () => boolean, pause: () => Promise<void>): Promise<void> {
    if (!(await this.create(deliver))) return;
    for (let steps = this.random.below(MOST_STEPS); steps > 0 && !stopping(); steps--) {
      await pause();
      if (this.random.oneIn(3)) await this.replaceTags(deliver);
      else await this.patch(deliver);
    }
    await pause();
    if (!stopping() && !this.random.oneIn(5)) await this.remove(deliver);
  }

  private async create(deliver: Deliver): Promise<boolean> {
    const secret = this.random.oneIn(3) ? this.random.uuid() : undefined;
    const { status, json } = await this.send(deliver, `creation of ${this.name}`, 'POST', '', {
      name: this.name,
      source: 'external_container',
      source_config: {},
      source_revision_config: { image_uri: imageOf(0) },
      secrets: secret ? [{ name: SECRET, value: secret }] : [],
    });
    this.refused = status === 400 && /already exists/.test(json.detail);
    if (this.refused) return false;
    expectAnswer(status === 201 && json.name === this.name, status, json);
    this.id = json.id;
    this.secret = secret;
    this.acknowledged += 1;
    return true;
  }

  private async patch(deliver: Deliver): Promise<void> {
    const image = imageOf(this.image + 1);
    const secret = this.random.oneIn(4) ? this.random.uuid() : undefined;
    const { status, json } = await this.send(deliver, `image ${image}`, 'PATCH', `/${this.id}`, {
      source_revision_config: { image_uri: image },
      ...(secret && { secrets: [{ name: SECRET, value: secret }] }),
    });
    expectAnswer(status === 200 && json.source_revision_config.image_uri === image, status, json);
    this.image += 1;
    this.secret = secret ?? this.secret;
    this.acknowledged += 1;
  }

  private async replaceTags(deliver: Deliver): Promise<void> {
    const tag = this.random.uuid();
    const tags = { tag_value_ids: [tag] };
    const { status, json } = await this.send(deliver, `tag ${tag}`, 'PUT', `/${this.id}/tags`, tags);
    expectAnswer(status === 200 && json.tag_value_ids[0] === tag, status, json);
    this.tag = tag;
    this.acknowledged += 1;
  }

  private async remove(deliver: Deliver): Promise<void> {
    const { status, json } = await this.send(deliver, 'deletion', 'DELETE', `/${this.id}`);
    expectAnswer(status === 204, status, json);
    this.acknowledged += 1;
  }

  private async send(deliver: Deliver, step: string, method: string, path: string, body?: object): Promise<Answer> {
    this.sent.push(step);
    return deliver({
      method,
      path: `/v2/deployments${path}`,
      body: body && JSON.stringify(body),
      headers: { 'idempotency-key': `life ${this.number} step ${this.sent.length}` },
    });
  }
}

/** The step that an event records; undefined for events that no client asked for. */
export function stepOf(type: string, data: ReturnType<typeof JSON.parse>): string | undefined {
  switch (type) {
    case 'DeploymentCreated':
      return `creation of ${data.name}`;
    case 'DeploymentPatched':
      return `image ${data.source_revision_config.image_uri}`;
    case 'DeploymentTagged':
      return `tag ${data.tag_value_ids[0]}`;
    case 'DeploymentDeletionRequested':
      return 'deletion';
    default:
      return undefined;
  }
}

/** The image of the deployment after so many patches. */
export function imageOf(number: number): string {
  return `registry.example/agent:${number}`;
}

function expectAnswer(holds: boolean, status: number, json: unknown): void {
  if (!holds) throw new Error(`Unexpected answer ${status}: ${JSON.stringify(json)}`);
}
