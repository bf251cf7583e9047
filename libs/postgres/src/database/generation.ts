/**
 * Name under which processes of this version are connected. The number tells them from processes of earlier versions,
 * which name keys in `on conflict` that this version replaces. It grows when a later version replaces more of what this
 * one needs.
 */
export const PROCESS_NAME = 'fairlead/2';

/** SQL: that a connection of `pg_stat_activity` belongs to a service, of whichever version. */
export const OF_SERVICE = `datname = current_database() and application_name ~ '^fairlead(/[0-9]+)?( reads)?$'`;

/** SQL: that a connection belongs to a service of an earlier version. */
export const OF_EARLIER_SERVICE = `datname = current_database() and application_name in ('fairlead', 'fairlead reads')`;
