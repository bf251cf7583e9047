import { DeploymentNames, HostedApps, spelledAddress } from '@fairlead/contracts';
import { type CommandContext, ForEachCaller } from '@fairlead/api';
import { publicAddress } from '@fairlead/edge';
import { BadRequest } from '@fairlead/schema';
import { Inject, Injectable, Optional } from '@nestjs/common';
import { DeploymentsOptions } from '../model/deployments.options';
import type { DeploymentRecord } from './record';

/**
 * Tells where the programs of deployments are reached that run in this process. Each answer has the address as it is for
 * its client, in `custom_url` when none was given. No event, no view and no stored answer has it.
 */
@Injectable()
export class DeploymentAddresses {
  constructor(
    private readonly options: DeploymentsOptions,
    @Optional() @Inject(HostedApps) private readonly apps: HostedApps | null,
    @Inject(DeploymentNames) private readonly names: DeploymentNames,
  ) {}

  /** Warns of other deployments whose names spell the same address; undefined when there are none, or no addresses. */
  async warning(tenantId: string, id: string, name: string): Promise<string | undefined> {
    const address = spelledAddress(name);
    if (!this.apps || address === '') return undefined;
    const others = (await this.names.spelled(tenantId, address)).filter((other) => other.id !== id);
    const [first] = others;
    if (!first) return undefined;
    const holder = others.find((other) => this.apps!.pathOf(tenantId, other.id) === `/apps/${address}`);
    const whose = `The name '${name}' spells the address /apps/${address}, as '${(holder ?? first).name}' does`;
    if (name === address)
      return `${whose}: this deployment takes it when it is deployed, because it is named exactly so.`;
    if (!holder) return `${whose}: the one that is deployed first has it, the other one is reached by its id.`;
    return `${whose}, which has it: this deployment is reached at /apps/${id}.`;
  }

  /** Where clients reach this server; undefined when that is not known, or when no program runs in this process. */
  base(context: CommandContext): string | undefined {
    if (!this.apps) return undefined;
    try {
      return publicAddress(context, this.options.publicUrl).replace(/\/$/, '');
    } catch (error) {
      if (error instanceof BadRequest) return undefined;
      throw error;
    }
  }

  /** A record with its address; any other answer as it is. */
  shown<Answer extends object>(context: CommandContext, answer: Answer): Answer {
    const { id, source_config } = answer as Partial<DeploymentRecord>;
    if (id === undefined || source_config?.custom_url !== null) return answer;
    const custom_url = this.of(context, id);
    return custom_url === undefined ? answer : { ...answer, source_config: { ...source_config, custom_url } };
  }

  /** The text of a record with its address. */
  inText(context: CommandContext, document: string): string {
    return this.apps ? JSON.stringify(this.shown(context, JSON.parse(document) as object)) : document;
  }

  /**
   * The change that a client sends, without the deployment's own `custom_url` where it sends back the one it was given.
   */
  sent<Sent extends { readonly source_config?: { readonly custom_url?: string } }>(
    context: CommandContext,
    id: string,
    sent: Sent,
  ): Sent {
    const { source_config } = sent;
    if (source_config?.custom_url === undefined || source_config.custom_url !== this.of(context, id)) return sent;
    return { ...sent, source_config: { ...source_config, custom_url: '' } };
  }

  private of(context: CommandContext, id: string): string | undefined {
    const path = this.apps?.pathOf(context.tenantId, id);
    const base = path === undefined ? undefined : this.base(context);
    return base === undefined ? undefined : base + path;
  }
}

/** Answers with the address as it is for the caller, also when the answer is repeated for an Idempotency-Key. */
@Injectable()
export class Addressed extends ForEachCaller<object> {
  constructor(private readonly addresses: DeploymentAddresses) {
    super();
  }

  show(kept: object, context: CommandContext): object {
    return this.addresses.shown(context, kept);
  }
}
