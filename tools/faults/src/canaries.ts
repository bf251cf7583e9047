import type { Courier, Random } from '@fairlead/e2e/testing';

const DIGITS = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** A hundred secrets, each given to the service, or given out by it, in one of the ways there are. */
export class Canaries {
  readonly secrets: string[] = [];

  constructor(
    private readonly courier: Courier,
    private readonly random: Random,
  ) {}

  /** Every tenth of what is sent is refused. */
  async release(): Promise<void> {
    for (let n = 0; n < 10; n++) {
      await this.deployment(n);
      await this.provider(n);
      await this.integration(n);
      await this.ask('POST', '/v1/webhooks', { url: 'https://hooks.example/in', event_types: ['*'], enabled: false });
      await this.ask('POST', '/api/v1/api-key', { description: `canary ${n}` });
    }
  }

  text(): string {
    return Array.from({ length: 24 }, () => DIGITS[this.random.below(DIGITS.length)]).join('');
  }

  /** Four secrets. */
  private async deployment(n: number): Promise<void> {
    const secrets = () => ['ONE', 'TWO'].map((name) => ({ name, value: this.secret() }));
    const container = { source: 'external_container', source_revision_config: { image_uri: 'registry.example/a:1' } };
    const { id } = await this.ask('POST', '/v2/deployments', {
      ...{ name: `canary ${n}`, source_config: {}, secrets: secrets(), ...container },
    });
    const again = secrets();
    await this.ask('PATCH', `/v2/deployments/${id}`, { secrets: again });
    await this.refused('PATCH', `/v2/deployments/${id}`, { secrets: [again[0], again[0]] });
    await this.refused('POST', '/v2/deployments', { name: 7, secrets: again });
  }

  /** Two secrets. */
  private async provider(n: number): Promise<void> {
    const body = {
      ...{ provider_id: `canary-${n}`, name: 'canary', client_id: 'canary', client_secret: this.secret() },
      ...{ auth_url: 'https://login.example/authorize', token_url: 'https://login.example/token' },
    };
    const { id } = await this.ask('POST', '/v2/auth/providers', body);
    await this.refused('POST', '/v2/auth/providers', body);
    await this.refused('POST', '/v2/auth/providers', { client_secret: body.client_secret });
    await this.ask('PATCH', `/v2/auth/providers/${id}`, { client_secret: this.secret() });
  }

  /** Two secrets. */
  private async integration(n: number): Promise<void> {
    const body = { name: `canary ${n}`, provider: 'gitlab', credentials: { token: this.secret() } };
    const { id } = await this.ask('POST', '/v1/integrations', { ...body, webhook_secret: this.secret() });
    await this.refused('PATCH', `/v1/integrations/${id}`, { name: 7, credentials: body.credentials });
  }

  private secret(): string {
    const secret = this.text();
    this.secrets.push(secret);
    return secret;
  }

  /** Takes what the answer gives out as one more. */
  private async ask(method: string, path: string, body: object): Promise<{ id: string }> {
    const answer = await this.send(method, path, body);
    const made = answer.json as { id: string; key?: string; secret?: string };
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(made)}`);
    const given = path.endsWith('/api-key') ? made.key : path.endsWith('/webhooks') ? made.secret : undefined;
    if (given !== undefined) this.secrets.push(given);
    return made;
  }

  private async refused(method: string, path: string, body: object): Promise<void> {
    const { status } = await this.send(method, path, body);
    if (status < 400) throw new Error(`${method} ${path} was not refused.`);
  }

  private send(method: string, path: string, body: object) {
    const headers = { 'idempotency-key': `canary ${this.random.uuid()}` };
    return this.courier.deliver({ method, path, body: JSON.stringify(body), headers });
  }
}
