import { randomUUID } from 'node:crypto';
import { jars } from '@fairlead/kafka';
import { sharedKafka } from '@fairlead/kafka/testing';
import { type Edge, startEdge } from '../edge';
import { type Environment, readSettings, SERVICE_NAMES, urlVariable } from '../settings/settings';
import { ServiceProcess } from './service-process';

/** All services, in one process or several. */
export interface Whole extends Edge {
  /** The services that run in processes of their own. */
  readonly processes: readonly ServiceProcess[];
}

/**
 * Starts all services in the shape of the test run: in this process or, with `FAIRLEAD_TEST_SHAPE=cluster`, each
 * service in a process of its own and the gateway in this one, with a real Kafka if it is installed. The database is
 * that in `DATABASE_URL`.
 */
export async function startWhole(env: Environment): Promise<Whole> {
  if (process.env.FAIRLEAD_TEST_SHAPE !== 'cluster') return startTogether(env);
  if (jars() === undefined) return startApart(env);
  return startApart({ KAFKA_BROKERS: await sharedKafka(), KAFKA_PREFIX: `test-${randomUUID()}.`, ...env });
}

/** Starts all services in this process. */
export async function startTogether(env: Environment): Promise<Whole> {
  return { ...(await startEdge({ name: 'standalone' }, readSettings(env))), processes: [] };
}

/** Starts all services in this process as `npm start` does, which chooses the executor if `env` names none. */
export async function startByDefault(env: Environment): Promise<Whole> {
  return { ...(await startEdge({ name: 'standalone', choosesExecutor: true }, readSettings(env))), processes: [] };
}

/** Starts each service in a process of its own, and the gateway in this one. */
export async function startApart(env: Environment): Promise<Whole> {
  const processes = SERVICE_NAMES.map((name) => new ServiceProcess(name, env));
  const stopProcesses = () => Promise.all(processes.map((process) => process.stop()));
  try {
    await Promise.all(processes.map((process) => process.start()));
    const urls = Object.fromEntries(processes.map(({ name, url }) => [urlVariable(name), url]));
    const gateway = await startEdge({ name: 'gateway' }, readSettings({ ...env, ...urls }));
    const stop = async () => {
      try {
        await gateway.stop();
      } finally {
        await stopProcesses();
      }
    };
    return { ...gateway, processes, stop };
  } catch (error) {
    await stopProcesses();
    throw error;
  }
}
