/** Experiments that a revision is compared with: those of the active revision, one by its id, or the newest of a branch. */
export type GateBaseline = 'active' | { readonly experiment_id: string } | { readonly branch: string };

/** Limits for the scores of one feedback key; a drop is measured in the direction of the key. */
interface GateKeyLimits {
  readonly min_mean?: number;
  readonly max_mean?: number;
  readonly max_drop?: number;
}

interface GateMeasureLimits {
  readonly max_mean?: number;
  readonly max_increase?: number;
}

/** Limits for scores, measures and errors. */
export interface GateLimits {
  readonly keys: Readonly<Record<string, GateKeyLimits>>;
  readonly measures: {
    readonly latency?: GateMeasureLimits;
    readonly tokens?: GateMeasureLimits;
    readonly cost?: GateMeasureLimits;
  };
  readonly max_error_rate?: number;
}

/** Limits for the rows whose example has one value in a member: `split`, `metadata.<member>` or `inputs.<member>`. */
export interface GateSlice extends GateLimits {
  readonly by: string;
  /** Absent: the limits hold for each value that examples of the dataset have. */
  readonly value?: string;
}

/** Limits that a revision has to be shown to keep before it is deployed. */
export interface Gate extends GateLimits {
  readonly name: string;
  /** The dataset whose experiments are the evidence. */
  readonly dataset_id: string;
  readonly baseline: GateBaseline;
  readonly slices?: readonly GateSlice[];
  /** Rows that have to be there before the first look. */
  readonly min_rows: number;
  /** Age (days) beyond which an experiment is no evidence. */
  readonly max_age_days: number;
  /** Ids of the API keys whose experiments count; absent: those of every key. */
  readonly evidence_keys?: readonly string[];
  /** Days that a revision waits for evidence. */
  readonly wait_days: number;
  /** True: while it waits, the revision answers at an address of its own. */
  readonly preview?: boolean;
  /** True: it has the secrets of the deployment there. */
  readonly preview_secrets?: boolean;
}

/** The executors that can let a held revision answer at an address of its own. */
export const PREVIEWING: readonly string[] = ['local', 'kubernetes'];

/** Tells how a held revision with these gates answers at an address of its own; undefined when it does not. */
export function previewOf(gates: readonly Gate[] = []): { readonly secrets: boolean } | undefined {
  const previews = gates.filter(({ preview }) => preview);
  if (previews.length === 0) return undefined;
  return { secrets: previews.some(({ preview_secrets }) => preview_secrets) };
}

/** `RevisionHeld`: a revision is ready to be deployed and waits for the verdict of its gates. */
export interface RevisionHeldMessage {
  readonly revision_id: string;
  readonly gates: readonly Gate[];
  /** The revision that serves when the wait begins; null when none does. */
  readonly active_revision_id: string | null;
  /** ISO 8601; the end of the wait. */
  readonly until: string;
}

/** `RevisionReleased`: a held revision may be deployed. */
export interface RevisionReleasedMessage {
  readonly revision_id: string;
  /** `verdict`: its gates promote it. `override`: a person does. `roll back`: it ran before, with other secrets. */
  readonly by: 'verdict' | 'override' | 'roll back';
}

/** Evidence promotes a revision, is too little yet, or refuses it. */
export type GateOutcome = 'promote' | 'hold' | 'refuse';

/** `GateJudged`, in a stream `gate-<revision id>`: one look at the evidence for a held revision. */
export interface GateJudgedMessage {
  readonly deployment_id: string;
  readonly revision_id: string;
  /** Looks so far that tested limits; 0 while there was too little to test. */
  readonly look: number;
  readonly outcome: GateOutcome;
  /** Sentences: what is missing, or which limits are broken. */
  readonly reasons: readonly string[];
}

/** A revision with gates whose verdict is told outside. */
export interface VerdictAbout {
  readonly deployment_id: string;
  readonly revision_id: string;
  /** Name of the deployment. */
  readonly name: string;
  readonly commit: string;
  /** Outcome of its gates, in a few words. */
  readonly standing: string;
  /** The gates that hold or have held it. */
  readonly gates: readonly Pick<Gate, 'name' | 'dataset_id'>[];
  /** Address of the workspace in the console, and of the page of the revision; undefined where it is not known. */
  readonly console?: string;
  readonly page?: string;
}

/** Renders verdicts for code hosts. The class is also its injection token. */
export abstract class VerdictReports {
  /** Returns Markdown in which texts of others mention and link nothing. It may be longer than a host takes. */
  abstract markdown(tenantId: string, about: VerdictAbout): Promise<string>;
}
