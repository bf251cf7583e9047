import type { HostStatusReportedMessage } from '@fairlead/contracts';
import type { DomainEvent, Model, Recorded } from '@fairlead/eventing';

type HostStatusReported = DomainEvent<'HostStatusReported', HostStatusReportedMessage>;

/** What was last said about the place where a deployment runs, in its stream `host-<deployment id>`. */
export type Host = HostStatusReportedMessage['status'] | null;

export const hostModel: Model<Host, HostStatusReported> = {
  initial: null,
  evolve: (_, event: Recorded<HostStatusReported>) => event.data.status,
};

/** Says whether the place is ready; the same status again says nothing. */
export function reportHost(said: HostStatusReportedMessage): (state: Host) => HostStatusReported[] {
  return (state) => (state === said.status || state === 'REMOVED' ? [] : [{ type: 'HostStatusReported', data: said }]);
}
