/**
 * The numbers of all advisory locks in PostgreSQL that do not stand for a name. No two are alike, also where one is the
 * first half of a lock and the other a whole one.
 */
export const LOCKS = {
  /** Held by the process that started the embedded server. */
  embeddedOwner: 4_600_000,
  /** Held while migrations run in transactions. */
  migration: 4_600_001,
  /** First half; the second one is the name of the read model that is being made again. */
  rebuild: 4_600_002,
  /** Held while migrations build indexes outside a transaction. */
  indexBuilds: 4_600_003,
  /** Held while earlier rows get their workspace. */
  workspaceFill: 4_600_004,
  /**
   * First half; the second one is the workspace. Shared by those who store runs, so that feedback which waits for a run
   * does not miss it.
   */
  awaitedFeedback: 4_600_005,
  /** Held while primary keys are replaced. */
  primaryKeys: 4_600_006,
  /** Held by each append to the log until its commit; the function `append_events` names the number as well. */
  append: 7_238_811_045,
} as const;
