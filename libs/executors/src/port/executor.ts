import type { AppUse, ControlAction, RequestCounter, RevisionSpec, SourceConfig } from '@fairlead/contracts';
import type { ProcessHealth } from './process-health.schema';
import type { ProgramLine } from './line-level';

export interface Placed {
  readonly tenantId: string;
  readonly deploymentId: string;
  readonly name: string;
  readonly config: SourceConfig;
  /** Where the executor said that it runs; undefined before it said so. */
  readonly place: string | undefined;
}

/** A deployment with the values of its secrets, as an executor works on it. */
export interface Assignment extends Placed {
  /** Values of the secrets by name; each call is recorded as a reading of them. */
  readonly secrets: () => Promise<ReadonlyMap<string, string>>;
}

export interface RevisionAssignment extends Assignment {
  readonly revision: RevisionSpec;
  readonly commit: string | null;
  /**
   * A gzip tarball of the revision's source: the uploaded one, or that of its commit, with one folder at its top.
   * Undefined when it has none. An archive of a code host is fetched while it is read.
   * @throws ExecutorUnreachable, StepFailed while it is read
   */
  readonly source: () => Promise<AsyncIterable<Buffer> | undefined>;
}

export type LogLevel = 'DEBUG' | 'INFO' | 'WARNING' | 'ERROR';

/** Takes a line for the build or deploy log; resolves when more may come. */
type Log = (level: LogLevel, message: string) => Promise<void>;

/** Takes output as it comes and logs it line by line. */
export interface TextSink {
  /** Resolves when more may come. */
  write(text: string): Promise<void>;
  end(): Promise<void>;
}

/** Context of every step: the step ends soon after `signal` aborts. */
export interface Step {
  readonly signal: AbortSignal;
  readonly log: Log;
  /** Hides the secrets that were read before it was called. */
  readonly output: (level: LogLevel) => TextSink;
  /** The text without the secrets that were read so far. */
  readonly safe: (text: string) => string;
  /** Says that the step only waits from now on: its place goes to another deployment. */
  readonly waits: () => Promise<void>;
}

/** Steps of one rollout that follow each other. */
export interface RolloutSteps {
  /** Only for sources that are built; absent when the executor builds nothing. */
  build?(step: Step): Promise<void>;
  /** Pulls the image of a revision; absent when the executor leaves that to others, such as a cluster. */
  pull?(step: Step): Promise<void>;
  deploy(step: Step): Promise<void>;
  /** Is called at the end, whatever happened. */
  close?(): Promise<void>;
}

/** State of a revision in the place where it should run. */
export interface Observation {
  /** Changes that somebody else has made, one short text each. */
  readonly drift: readonly string[];
  /** Why it does not run as it should. */
  readonly trouble?: string;
  readonly processes?: readonly ProcessHealth[];
  /** True when a process has just ended and is started again: it will soon be known whether that is a trouble. */
  readonly isRestarting?: boolean;
  /** True when a process has run for so long that a crash loop before it is over. */
  readonly hasRecovered?: boolean;
}

/** Sees to what runs already. */
export interface Upkeep {
  /** Where a deployment is to run that runs nowhere yet. What this returns is recorded, and given back as `place`. */
  place(assignment: Assignment): string;
  /** Makes the revision run as it did before, whatever was done since, and waits until it does. */
  restore(assignment: RevisionAssignment, step: Step): Promise<void>;
  /** Lets nothing of the deployment run, and waits until nothing does. */
  halt(assignment: Assignment, step: Step): Promise<void>;
  /** Finds out whether the revision runs, and nothing else. */
  observe(assignment: RevisionAssignment, step: Step): Promise<Observation>;
}

/** A revision that is held, which has only those of its secrets that its gates give it. */
export interface PreviewAssignment extends RevisionAssignment {
  readonly preview: {
    /** Name of its tracing project. */
    readonly project: string;
    /** True when its gates give it the secrets. */
    readonly secrets: boolean;
  };
}

/** Lets revisions that wait for the verdict of their gates answer beside the active ones, each at an address of its own. */
export interface Previews {
  /** Lets a revision answer from now on, and returns the path of its address. @throws StepFailed */
  begin(assignment: PreviewAssignment, step: Step): Promise<string>;
  /** Told that a revision could not begin, for a reason that another attempt would meet again: it is not begun again. */
  giveUp(deploymentId: string, revisionId: string): void;
  /** Ends what answers for a deployment; nothing when nothing does. */
  end(assignment: Assignment, step: Step): Promise<void>;
  /**
   * A revision that has begun and not ended, also one that could not begin; undefined when there is none. Any other one
   * comes before `held`, which counts only once nothing more is to be done for it.
   */
  revisionOf(placed: Placed, held: string | undefined, signal: AbortSignal): Promise<string | undefined>;
  /** The path of the address of a revision; undefined when it does not answer, or cannot be asked. */
  pathOf(placed: Placed, revisionId: string): Promise<string | undefined>;
}

/** Takes what a command writes; the command waits until the promise resolves, which never rejects. */
export type TakeOutput = (stream: 'stdout' | 'stderr', text: string) => Promise<unknown>;

export interface CommandEnd {
  /** Null when it did not end by itself. */
  readonly exitCode: number | null;
  /** Why it did not start, was ended, or ended as it did, in one sentence; null when its exit code says all. */
  readonly reason: string | null;
}

/** The build or image of a revision, in which a command can run with what its program has. */
export interface CommandPlace {
  readonly revisionId: string;
  /** Values in its environment that nobody is told. */
  readonly secrets: readonly string[];
  /** Runs a command, once. When `signal` aborts, it and all that it started are ended. Never rejects. */
  run(words: readonly string[], take: TakeOutput, signal: AbortSignal): Promise<CommandEnd>;
  /** To be called at the end, whether a command has run or not. */
  close(): void;
}

/** Measurements of programs. */
export interface Measures {
  readonly requests: ReturnType<RequestCounter['take']>;
  readonly uses: readonly Pick<AppUse, 'deployment_id' | 'tenant_id' | 'memory_bytes' | 'restarts'>[];
}

/**
 * Runs revisions somewhere. Every method may be called again after a restart and must then lead to the same end.
 * All throw ExecutorUnreachable when nothing can be said or done now, and any other error when the step has failed.
 */
export abstract class Executor {
  /** The value of the setting EXECUTOR that chooses it: recorded with every revision that it deploys. */
  abstract readonly name: string;
  /** Absent when nothing of a revision is left to see to once its rollout has ended. */
  readonly upkeep?: Upkeep;
  /** True when a revision of a code host fails unless its commit can be found out. */
  readonly needsCommits: boolean = false;
  /** Returns why no revision can be rolled out as this installation is configured; undefined when nothing is wrong. */
  check?(signal: AbortSignal): Promise<string | undefined>;
  /** Finds out that deployments can be run. Absent when that is found out by running them. */
  prepare?(assignment: Assignment, step: Step): Promise<void>;
  abstract rollOut(assignment: RevisionAssignment): RolloutSteps;
  /** Takes away everything that runs for the deployment. */
  abstract remove(assignment: Assignment, step: Step): Promise<void>;
  /** Stops, starts or restarts what runs of a deployment. Those that CONTROLLING names have it. */
  control?(assignment: RevisionAssignment, action: ControlAction, step: Step): Promise<void>;
  /** Tells what runs of a deployment now. An executor that cannot know does not have it. */
  inspect?(placed: Placed, signal: AbortSignal): Promise<readonly ProcessHealth[]>;
  /**
   * Where commands of a deployment run, also while its program does not. Undefined while no revision is there that it
   * has deployed. Absent when others run programs.
   */
  commands?(deploymentId: string): Promise<CommandPlace | undefined>;
  /**
   * Requests since the last call and use now of all programs that run here. Absent when others run programs: what they
   * use is then known from `upkeep`, if at all.
   */
  measure?(): Measures;
  /**
   * The last lines that the program of a deployment wrote, or that of a held revision of it, the oldest first. Absent
   * when others run programs.
   */
  lines?(deploymentId: string, previewed?: string): readonly ProgramLine[];
  /** Absent when it cannot let held revisions answer: PREVIEWING names those that can. */
  readonly previews?: Previews;
}

/** The place where revisions run does not answer; trying again later may help. */
export class ExecutorUnreachable extends Error {
  override name = 'ExecutorUnreachable';
}

/** The step has failed for good; the message is a sentence for the deployment's owner. */
export class StepFailed extends Error {
  override name = 'StepFailed';
}
