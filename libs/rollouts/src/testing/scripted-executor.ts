import type { ControlAction } from '@fairlead/contracts';
import {
  Executor,
  type ProcessHealth,
  type ProgramLine,
  type RevisionAssignment,
  type RolloutSteps,
  type Step,
} from '@fairlead/executors';

type Work = (step: Step, assignment: RevisionAssignment) => Promise<void>;

/** An executor whose steps a test decides; it counts how many work on one deployment at a time. */
export class ScriptedExecutor extends Executor {
  readonly calls: string[] = [];
  mostAtOnce = 0;
  prepares: () => Promise<void> = () => Promise.resolve();
  builds: Work = () => Promise.resolve();
  deploys: Work = () => Promise.resolve();
  removes: () => Promise<void> = () => Promise.resolve();
  inspects: () => Promise<readonly ProcessHealth[]> = () => Promise.resolve([]);
  controls: (action: ControlAction) => Promise<void> = () => Promise.resolve();
  written: readonly ProgramLine[] = [];
  private readonly busy = new Map<string, number>();

  constructor(readonly name = 'scripted') {
    super();
  }

  override async prepare(): Promise<void> {
    this.calls.push('prepare');
    await this.prepares();
  }

  rollOut(assignment: RevisionAssignment): RolloutSteps {
    const { deploymentId } = assignment;
    const during = async (what: string, work: Work, step: Step) => {
      const now = (this.busy.get(deploymentId) ?? 0) + 1;
      this.busy.set(deploymentId, now);
      this.mostAtOnce = Math.max(this.mostAtOnce, now);
      this.calls.push(`${what} ${assignment.revision.revision_id}`);
      try {
        await work(step, assignment);
      } finally {
        this.busy.set(deploymentId, now - 1);
      }
    };
    return {
      build: (step) => during('build', this.builds, step),
      deploy: (step) => during('deploy', this.deploys, step),
      close: async () => {
        this.calls.push('close');
      },
    };
  }

  override inspect(): Promise<readonly ProcessHealth[]> {
    return this.inspects();
  }

  override lines(): readonly ProgramLine[] {
    return this.written;
  }

  override async control(_: RevisionAssignment, action: ControlAction): Promise<void> {
    this.calls.push(action);
    await this.controls(action);
  }

  async remove(): Promise<void> {
    this.calls.push('remove');
    await this.removes();
  }
}

/** Work that goes on until its step is ended. */
export async function endless({ signal }: Step): Promise<void> {
  // On a slow machine the time limit of a step may have passed before the step begins.
  if (!signal.aborted) {
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  }
  throw new Error('It was ended.');
}
