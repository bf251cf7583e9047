import type { RolloutPlans } from '@fairlead/contracts';
import { OutboundPolicy } from '@fairlead/outbound';
import type { Hosting } from './source-rules';

/** Where clients may push images to. */
interface Registry {
  /** Host and, if need be, a path: the name of an image follows after a slash. */
  readonly url: string;
  readonly token: string;
}

interface More {
  /** Where clients reach this service, without a path; what their requests name when absent. */
  readonly publicUrl?: string;
  readonly registry?: Registry;
  /** Which code hosts deployments may name. */
  readonly outbound?: OutboundPolicy;
  /** Milliseconds without a change or a use after which a deployment is UNUSED; never when absent. */
  readonly unusedAfter?: number;
  /** The value of the setting EXECUTOR; unknown when absent. */
  readonly executor?: string;
  /** Plans of the executor for a change before it is stored; absent when the executor makes none. */
  readonly plans?: RolloutPlans;
}

/** Settings of the deployments service; the class is also their injection token. */
export class DeploymentsOptions {
  readonly publicUrl: string | undefined;
  readonly registry: Registry | undefined;
  readonly outbound: OutboundPolicy;
  readonly unusedAfter: number | undefined;
  readonly executor: string | undefined;
  readonly plans: RolloutPlans | undefined;

  constructor(
    readonly hosting: Hosting = 'any',
    { publicUrl, registry, outbound = new OutboundPolicy(), unusedAfter, executor, plans }: More = {},
  ) {
    this.publicUrl = publicUrl;
    this.registry = registry;
    this.outbound = outbound;
    this.unusedAfter = unusedAfter;
    this.executor = executor;
    this.plans = plans;
  }
}
