import { isSessionDeleted } from '@fairlead/contracts';
import { EventStore, faultOf, type Lease, QueueWorker, type WorkItem } from '@fairlead/eventing';
import { hasProject, SessionCommands } from '@fairlead/runs';
import { Injectable, Logger } from '@nestjs/common';
import { Pool } from 'pg';
import { afterLook, type Look, type Monitor, NO_STREAKS, type Streaks } from './monitor';
import { MonitorLooks } from './monitor-looks.store';
import { measure, STATEMENT_MS } from './monitor-values.queries';
import { MonitorCommands } from './monitor.commands';

const CONCURRENCY = 2;
/** Looks in a window, and the shortest and longest time between two (ms). */
const [IN_WINDOW, SHORTEST_MS, LONGEST_MS] = [30, 10_000, 300_000];
const FIRST_PAUSE_MS = 5000;

/** Looks at the monitors that are due, and notes which of them have another state. */
@Injectable()
export class MonitorsWorker extends QueueWorker {
  constructor(
    private readonly looks: MonitorLooks,
    private readonly commands: MonitorCommands,
    private readonly sessions: SessionCommands,
    private readonly store: EventStore,
    private readonly pool: Pool,
  ) {
    super(looks, new Logger('Monitors'), CONCURRENCY);
  }

  protected async work({ item, signal }: Lease): Promise<void> {
    try {
      const due = await this.looks.find(item.tenant!, item.id);
      if (!due) return await this.looks.finish(item);
      const { monitor, streaks } = due;
      if (await this.isOver(monitor)) return await this.commands.end(monitor);
      if (!monitor.enabled) return await this.looks.rest(item, undefined, false);
      const look = await this.look(monitor);
      signal.throwIfAborted();
      await this.note(item, monitor, streaks ?? NO_STREAKS, look);
      await this.looks.rest(item, pauseOf(monitor), false);
    } catch (error) {
      if (signal.aborted) return;
      this.logger.error(error);
      const pause = Math.min(LONGEST_MS, FIRST_PAUSE_MS * 2 ** Math.min(item.failures, 10));
      await this.looks.rest(item, pause, true).catch((lost: unknown) => this.logger.error(lost));
    }
  }

  /** Returns whether the project was deleted, as the log says: a table may be behind. */
  private async isOver({ tenant_id, project_id }: Monitor): Promise<boolean> {
    if (await hasProject(this.pool, { tenantId: tenant_id, id: project_id })) {
      return isSessionDeleted(this.store, project_id);
    }
    return (await this.sessions.stateOf(project_id))?.removed ?? false;
  }

  private async look(monitor: Monitor): Promise<Look> {
    try {
      return await measure(this.pool, monitor, Date.now());
    } catch (error) {
      if (faultOf(error) === 'slow') {
        return { problem: `It took longer than ${STATEMENT_MS / 1000} seconds: choose a shorter window.` };
      }
      this.logger.error(error);
      return { problem: 'The runs could not be read.' };
    }
  }

  private async note(item: WorkItem, monitor: Monitor, before: Streaks, look: Look): Promise<void> {
    const { streaks, state } = afterLook(monitor, before, look);
    // When the process ends here, the next look finds the same state and no longer differs.
    if (state !== monitor.state) await this.commands.noteState(monitor, state, look);
    const found = 'problem' in look ? { value: null, runs: null, ...look } : { ...look, problem: null };
    const last = { at: new Date().toISOString(), ...found };
    await this.looks.saw(item, { edition: monitor.edition, streaks, last });
  }
}

function pauseOf({ window_minutes }: Monitor): number {
  return Math.min(LONGEST_MS, Math.max(SHORTEST_MS, (window_minutes * 60_000) / IN_WINDOW));
}
