import { Shredded } from '@fairlead/eventing';
import { FairShare, Recent } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';
import { bitbucket } from './bitbucket';
import { CodeHost, GitHub } from './code-host';
import { CredentialsStore } from '../integration/credentials.store';
import { IntegrationNotFound } from '../integration/integration.errors';
import { gitea, gitHub } from './github';
import { gitLab } from './gitlab';
import { HostClient, type KeptAnswer } from './host.client';
import type { Credentials, Integration } from '../integration/integration';
import { IntegrationsOptions } from '../integration/integrations.options';
import { apiUrl } from '../integration/provider';

/** Calls of one workspace to one host. */
const PLACES = { perOwner: 4, waiting: 1000, waitingTogether: Infinity };
const HOSTS_KEPT = 200;
const ANSWERS_KEPT = 10_000;
const ANSWERS_WEIGHT = { bytes: 32 * 1024 * 1024, of: ({ body }: KeptAnswer) => body.length + 1024 };
const NAMES = { github: 'GitHub', gitlab: 'GitLab', gitea: 'Gitea', bitbucket: 'Bitbucket' } as const;

/** Keeps the clients of code hosts by integration, with their recent answers. */
@Injectable()
export class Hosts {
  private readonly places = new FairShare(Infinity, PLACES);
  private readonly answers = new Recent<KeptAnswer>(ANSWERS_KEPT, ANSWERS_WEIGHT);
  private readonly hosts = new Recent<{ version: number; host: CodeHost }>(HOSTS_KEPT);

  constructor(
    private readonly credentials: CredentialsStore,
    private readonly options: IntegrationsOptions,
  ) {}

  /**
   * Returns the host of an integration at a version of its stream. @throws IntegrationNotFound when it is being removed
   */
  async of(integration: Integration, version: number): Promise<CodeHost> {
    const known = this.hosts.get(integration.id);
    if (known?.version === version) return known.host;
    const credentials = await this.credentials.open(integration).catch((error: unknown) => {
      throw error instanceof Shredded ? new IntegrationNotFound(integration.id) : error;
    });
    const host = this.make(integration, version, credentials);
    this.hosts.set(integration.id, { version, host });
    return host;
  }

  private make(
    { id, tenant_id, provider, base_url }: Integration,
    version: number,
    credentials: Credentials,
  ): CodeHost {
    const name = `The code host ${NAMES[provider]}`;
    const api = apiUrl(provider, base_url);
    const client = new HostClient(this.options, this.places, this.answers, `${id} ${version}`, tenant_id, name);
    if (provider === 'github' || credentials.kind === 'app') {
      return new GitHub(client, api, gitHub(credentials.kind === 'app'), credentials, name);
    }
    const { token } = credentials;
    if (provider === 'gitlab') return new CodeHost(client, api, gitLab, `Bearer ${token}`, name);
    if (provider === 'gitea') return new CodeHost(client, api, gitea, `token ${token}`, name);
    const { origin, pathname } = new URL(base_url);
    const [, workspace] = pathname.split('/');
    const basic = `Basic ${Buffer.from(token).toString('base64')}`;
    const authorization = token.includes(':') ? basic : `Bearer ${token}`;
    return new CodeHost(client, api, bitbucket(workspace || undefined, origin), authorization, name);
  }
}
