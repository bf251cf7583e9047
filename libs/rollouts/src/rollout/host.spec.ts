import type { HostStatusReportedMessage } from '@fairlead/contracts';
import { type Host, reportHost } from './host';

const MINUTES = 60_000;
const unknown = (reason: string): HostStatusReportedMessage => ({ deployment_id: 'd', status: 'UNKNOWN', reason });
const crashes = (ends: number): HostStatusReportedMessage => {
  return { ...unknown(`Crash looping, ${ends} restarts`), crash_looping: true };
};
const ready: HostStatusReportedMessage = { deployment_id: 'd', status: 'READY' };

describe('what is said about the place where a deployment runs', () => {
  const said: Host = { status: 'UNKNOWN', reason: 'no route', saidAt: new Date(0).toISOString() };
  it.each<[what: string, before: Host, report: HostStatusReportedMessage, minutes: number, isSaid: boolean]>([
    ['the first word', { status: null }, ready, 0, true],
    ['another status', said, ready, 0, true],
    ['the same again', said, unknown('no route'), 60, false],
    ['another reason at once', said, unknown('it crashes'), 9, false],
    ['another reason after a while', said, unknown('it crashes'), 10, true],
    ['READY again', { status: 'READY', saidAt: said.saidAt }, ready, 60, false],
    ['READY after a change by others', { status: 'READY', saidAt: said.saidAt, drift: ['spec'] }, ready, 0, true],
    ['a crash loop at once', said, crashes(3), 1, true],
    ['the same crash loop after a while', { ...said, isCrashLooping: true }, crashes(16), 60, false],
    ['its end', { ...said, isCrashLooping: true }, ready, 1, true],
    ['anything after the end', { status: 'REMOVED', saidAt: said.saidAt }, ready, 60, false],
  ])('%s', (_, before, report, minutes, isSaid) => {
    const events = reportHost(report, minutes * MINUTES)(before);
    expect(events).toEqual(isSaid ? [{ type: 'HostStatusReported', data: report }] : []);
  });
});
