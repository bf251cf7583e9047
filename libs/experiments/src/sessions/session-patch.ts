import type { ExperimentState, SessionPatched } from './experiment';

/** Members to change; absent ones stay. */
export type SessionChanges = SessionPatched['data'];

/** Changes a session; a session that is not there, and no changes, give no event. */
export function patchSession(changes: SessionChanges): (state: ExperimentState) => SessionPatched[] {
  return (state) => {
    const given = Object.entries(changes).filter(
      ([name, value]) => value !== undefined && (name !== 'name' || value !== state.name),
    );
    return state.exists && given.length ? [{ type: 'SessionPatched', data: Object.fromEntries(given) }] : [];
  };
}
