/** Name of the follower that keeps the tables of datasets, sessions, runs and feedback. */
export const EXPERIMENTS_VIEW = 'experiments-view';
/** Name of the follower that stores runs which are sent while they happen. */
export const LIVE_RUNS = 'live-runs';
/** Followers that a read of sessions, runs or feedback waits for. */
export const EXPERIMENTS_VIEWS = [EXPERIMENTS_VIEW, LIVE_RUNS] as const;
