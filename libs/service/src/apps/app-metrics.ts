import type { HostedApps } from '@fairlead/contracts';
import { Counter, Gauge, type Registry } from 'prom-client';

/** Adds what the programs of deployments use to the metrics of a process. */
export function measureApps(registry: Registry, apps: HostedApps): void {
  const registers = [registry];
  new Gauge({
    name: 'fairlead_apps',
    help: 'Deployments on this machine; IDLE: no program runs',
    labelNames: ['state'],
    registers,
    collect() {
      this.reset();
      for (const { state } of apps.uses()) this.inc({ state });
    },
  });
  new Counter({
    name: 'fairlead_app_log_lines_total',
    help: 'Lines that programs of deployments wrote; dropped: more than LOCAL_LOG_RATE in a second',
    labelNames: ['outcome'],
    registers,
    collect() {
      this.reset();
      for (const outcome of ['kept', 'dropped'] as const) this.inc({ outcome }, apps.logged[outcome]);
    },
  });
  for (const [name, help, member] of [
    ['fairlead_app_memory_bytes', 'Memory of the processes of a deployment', 'memory_bytes'],
    ['fairlead_app_cpu_cores', 'Processor cores that the processes of a deployment use', 'cpu_cores'],
    ['fairlead_app_disk_bytes', 'Files of a deployment when they were counted last', 'disk_bytes'],
    ['fairlead_app_restarts', 'How often a program was started again after it ended', 'restarts'],
  ] as const) {
    new Gauge({
      ...{ name, help, labelNames: ['deployment'], registers },
      collect() {
        this.reset();
        for (const { deployment_id: deployment, [member]: value } of apps.uses()) {
          if (value !== null) this.set({ deployment }, value);
        }
      },
    });
  }
}
