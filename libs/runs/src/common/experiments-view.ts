/** Name of the follower that keeps the tables of datasets, sessions, runs and feedback. */
export const EXPERIMENTS_VIEW = 'experiments-view';
