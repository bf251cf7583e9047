import { Followers, serviceCaller, Vault } from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';
import { deleteComparison } from './comparative/comparative-experiment';
import { ComparativeExperimentCommands } from './comparative/comparative-experiments.commands';
import { comparativeExperimentsView } from './comparative/comparative-experiments.projection';
import { sealsOf } from './sharing/share.queries';
import { PayloadStore } from './storage/payload.store';
import { DatasetCommands } from './datasets/datasets.commands';
import { SessionCommands, unlessGone } from './sessions/sessions.commands';

const AT_ONCE = 20;

@Injectable()
export class ExperimentsRemover {
  constructor(
    private readonly comparisons: ComparativeExperimentCommands,
    private readonly datasets: DatasetCommands,
    private readonly sessions: SessionCommands,
    private readonly pool: Pool,
    private readonly followers: Followers,
    private readonly payloads: PayloadStore,
    private readonly vault: Vault,
  ) {}

  async remove(tenant: string): Promise<number> {
    const caller = serviceCaller({ tenant, actor: 'system:experiments' });
    const comparisons = await this.ids('comparative_experiments', tenant);
    for (const id of comparisons) {
      const gone = await this.comparisons.change(caller, id, deleteComparison).catch(unlessGone);
      if (gone) await this.followers.passed(gone.position, [comparativeExperimentsView.name]);
    }
    const datasets = await this.ids('datasets', tenant);
    for (const id of datasets) await this.datasets.delete(caller, id).catch(unlessGone);
    const sessions = await this.ids('sessions', tenant);
    for (const id of sessions) await this.sessions.delete(caller, id).catch(unlessGone);
    const found = comparisons.length + datasets.length + sessions.length;
    return found > 0 ? found : this.removePayloads(tenant);
  }

  /** When the sessions and datasets are gone, nothing needs the bodies any more. */
  private async removePayloads(tenant: string): Promise<number> {
    const payloads = await this.ids('payloads', tenant);
    for (const id of payloads) await this.payloads.remove(id, new Date(Date.now() + 60_000));
    await this.vault.shred(sealsOf(tenant));
    await this.pool.query('delete from payload_sessions where tenant_id = $1', [tenant]);
    await this.pool.query('delete from payload_datasets where tenant_id = $1', [tenant]);
    return payloads.length;
  }

  private async ids(
    table: 'comparative_experiments' | 'datasets' | 'sessions' | 'payloads',
    tenant: string,
  ): Promise<string[]> {
    const { rows } = await this.pool.query<{ id: string }>(`select id from ${table} where tenant_id = $1 limit $2`, [
      tenant,
      AT_ONCE,
    ]);
    return rows.map(({ id }) => id);
  }
}
