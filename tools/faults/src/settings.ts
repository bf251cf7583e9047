/** True for the full form, with `npm run test:faults`; a short form runs with every test run. */
const FULL = process.env.FAIRLEAD_FAULTS === 'full';
const SOAK_MINUTES = Number(process.env.FAIRLEAD_SOAK_MINUTES ?? 0);

export const settings = {
  full: FULL,
  /** Gives the same load, and the same faults at the same points of it, as far as machines are alike. */
  seed: Number(process.env.FAIRLEAD_FAULTS_SEED ?? 20_260_101),
  /** Times that something is killed: with every service in one process, and with each in its own. */
  rounds: { inOne: FULL ? 30 : 4, apart: 70 },
  /** The short form also runs where everything is slow. */
  recoveryMs: FULL ? 10_000 : 300_000,
  /** Kafka gives the partitions of a consumer whose end it has not seen to nobody else for so long. */
  sessionMs: 6000,
  slowMs: 5000,
  /** Time for which a server stays slow (ms). */
  slowForMs: FULL ? 30_000 : 6000,
  cutMs: FULL ? 30_000 : 3000,
  closedLoopMs: FULL ? 10_000 : 2000,
  /** Time for which one workspace attacks while another works (ms): `npm run test:soak` sets the minutes. */
  soakMs: SOAK_MINUTES > 0 ? SOAK_MINUTES * 60_000 : 15_000,
  overloadMs: FULL ? 60_000 : 5000,
};
