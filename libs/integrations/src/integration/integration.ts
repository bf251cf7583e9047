import { plainRepository, repositoryOf } from '@fairlead/contracts';
import {
  type Aggregate,
  changedMembers,
  type DomainEvent,
  type Model,
  type Recorded,
  type Sealed,
} from '@fairlead/eventing';
import { IntegrationNotFound, InvalidIntegration } from './integration.errors';

export const PROVIDERS = ['github', 'gitlab', 'gitea', 'bitbucket'] as const;
export type Provider = (typeof PROVIDERS)[number];

/** The credentials for the code host, encrypted. */
export type Auth =
  | { readonly kind: 'token'; readonly token: Sealed }
  | {
      readonly kind: 'app';
      readonly app_id: number;
      readonly installation_id: number;
      readonly private_key: Sealed;
    };

/** Credentials as the host gave them out. */
export type Credentials =
  | { readonly kind: 'token'; readonly token: string }
  | {
      readonly kind: 'app';
      readonly app_id: number;
      readonly installation_id: number;
      readonly private_key: string;
    };

/** A repository of the host that is told the verdicts of gates. */
export interface ReportedRepository {
  readonly repo_url: string;
  readonly statuses: boolean;
  readonly comments: boolean;
}

export type IntegrationAdded = DomainEvent<
  'IntegrationAdded',
  {
    readonly integration_id: string;
    readonly tenant_id: string;
    readonly name: string;
    readonly provider: Provider;
    readonly base_url: string;
    readonly auth: Auth;
    readonly webhook_secret: Sealed | null;
    /** Absent when there are none. */
    readonly reports?: readonly ReportedRepository[];
  }
>;
/** The changed members, each as it is after the change. */
type IntegrationChanged = DomainEvent<
  'IntegrationChanged',
  {
    readonly name?: string;
    readonly base_url?: string;
    readonly auth?: Auth;
    readonly webhook_secret?: Sealed;
    readonly reports?: readonly ReportedRepository[];
  }
>;
export type IntegrationRemoved = DomainEvent<'IntegrationRemoved', { readonly integration_id: string }>;

/** All events of a stream `integration-<id>`. */
export type IntegrationEvent = IntegrationAdded | IntegrationChanged | IntegrationRemoved;

/** The state of an integration. */
export interface Integration {
  readonly id: string;
  readonly tenant_id: string;
  readonly name: string;
  readonly provider: Provider;
  readonly base_url: string;
  readonly auth: Auth;
  readonly webhook_secret: Sealed | null;
  /** Absent in events of earlier versions, and when there are none. */
  readonly reports?: readonly ReportedRepository[];
  readonly created_at: string;
  readonly updated_at: string;
  readonly removed: boolean;
}

/** null until the integration has been added. */
export type IntegrationState = Integration | null;

export const integrationModel: Model<IntegrationState, IntegrationEvent> = { initial: null, evolve };

export const integrationAggregate: Aggregate<Integration, IntegrationEvent> = {
  category: 'integration',
  model: integrationModel,
  notFound: (id) => new IntegrationNotFound(id),
};

function evolve(state: IntegrationState, event: Recorded<IntegrationEvent>): IntegrationState {
  if (event.type === 'IntegrationAdded') {
    const { integration_id: id, ...members } = event.data;
    return { id, ...members, created_at: event.time, updated_at: event.time, removed: false };
  }
  if (!state) return state;
  if (event.type === 'IntegrationChanged') return { ...state, ...event.data, updated_at: event.time };
  return { ...state, removed: true };
}

/** Adds an integration under an id made by the caller. */
export function add(wanted: IntegrationAdded['data']): (state: IntegrationState) => IntegrationEvent[] {
  return (state) => {
    if (state) return [];
    checkAuth(wanted.provider, wanted.auth.kind);
    checkReports(wanted.base_url, wanted.reports ?? []);
    return [{ type: 'IntegrationAdded', data: wanted }];
  };
}

/** The members of a PATCH, with encrypted secrets; absent members stay. */
interface IntegrationPatch {
  readonly name?: string;
  readonly provider?: Provider;
  readonly base_url?: string;
  readonly auth?: Auth;
  readonly webhook_secret?: Sealed;
  readonly reports?: readonly ReportedRepository[];
}

/**
 * Changes the members that are sent and differ. Credentials cannot be compared, so they always count as changed.
 * @throws InvalidIntegration for another provider, and for another base_url without credentials: the stored ones must
 * not be sent to a new host; and for a repository of another host.
 */
export function change(wanted: IntegrationPatch): (state: Integration) => IntegrationEvent[] {
  return (state) => {
    const { provider = state.provider, auth, webhook_secret } = wanted;
    if (provider !== state.provider) throw new InvalidIntegration('provider cannot be changed after creation.');
    if (auth) checkAuth(provider, auth.kind);
    const { name: before, base_url: host, reports: told = [] } = state;
    const { name, base_url, reports } = wanted;
    checkReports(base_url ?? host, reports ?? told);
    const known = { name: before, base_url: host, reports: told };
    const data = changedMembers<IntegrationChanged['data']>(known, { name, base_url, auth, webhook_secret, reports });
    if (data?.base_url !== undefined && !auth) {
      throw new InvalidIntegration('credentials must be sent together with another base_url.');
    }
    return data ? [{ type: 'IntegrationChanged', data }] : [];
  };
}

/** Returns what a repository is told; undefined when it is told nothing. */
export function reportedTo({ reports = [] }: Integration, repoUrl: string): ReportedRepository | undefined {
  const wanted = plainRepository(repoUrl);
  return reports.find(({ repo_url, statuses, comments }) => {
    return plainRepository(repo_url) === wanted && (statuses || comments);
  });
}

/** @throws InvalidIntegration when one is no repository of the host, or is named twice */
function checkReports(baseUrl: string, reports: readonly ReportedRepository[]): void {
  const names = reports.map(({ repo_url }) => plainRepository(repo_url));
  for (const [place, { repo_url }] of reports.entries()) {
    const at = `reports[${place}].repo_url`;
    if (!repositoryOf(baseUrl, repo_url))
      throw new InvalidIntegration(`${at} is no repository on the host of base_url.`);
    if (names.indexOf(names[place]!) !== place)
      throw new InvalidIntegration(`${at} is a repository that is named twice.`);
  }
}

/** Removes the integration: its credentials can never be read again. */
export function remove(state: Integration): IntegrationEvent[] {
  return [{ type: 'IntegrationRemoved', data: { integration_id: state.id } }];
}

/** @throws InvalidIntegration when the provider knows no such way to sign in. */
export function checkAuth(provider: Provider, kind: Auth['kind']): void {
  if (kind === 'app' && provider !== 'github') {
    throw new InvalidIntegration(`credentials.app_id is not allowed when provider is '${provider}'.`);
  }
}
