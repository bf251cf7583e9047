import { late } from '../../../ui/late';

/** Lines of a log, whose code is asked for together with them. */
export const LateLines = late(async () => (await import('./lines')).Lines);
void LateLines.preload();
