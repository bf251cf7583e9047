import { EventStoreDBClient } from '@eventstore/db-client';
import { GossipClient } from '@eventstore/db-client/generated/gossip_grpc_pb';
import { type ClusterInfo, MemberInfo } from '@eventstore/db-client/generated/gossip_pb';
import { Empty } from '@eventstore/db-client/generated/shared_pb';
import { Metadata } from '@grpc/grpc-js';

/** Time limit of the question which node leads (ms). */
const ANSWER_MS = 1000;
/** Parts of an address: scheme, user and password, hosts, options. */
const ADDRESS = /^(esdb(?:\+discover)?:\/\/)([^@/?]*@)?([^/?]+)(.*)$/;

/** Returns an address for each node that an address lists; none when it names a single host. */
export function nodesOf(url: string): readonly string[] {
  const [, scheme, user = '', hosts = '', options] = ADDRESS.exec(url) ?? [];
  const names = scheme === 'esdb://' ? hosts.split(',') : [];
  return names.length > 1 ? names.map((host) => `${scheme}${user}${host}${options}`) : [];
}

/** No node of the cluster named a leader. */
export class NoLeader extends Error {
  constructor(nodes: number) {
    super(`none of ${nodes} nodes names a leader`);
    this.name = 'NoLeader';
  }
}

/**
 * Asks all nodes at the same time which of them leads, as `host:port`. Answers as soon as more than half agree, or else,
 * after a second at most, with the node that is named most often: one that hung may still take itself for the leader.
 * @throws NoLeader when none names one
 */
export async function findLeader(nodes: readonly EventStoreDBClient[]): Promise<string> {
  const votes = new Map<string, number>();
  await new Promise<void>((resolve) => {
    const asked = nodes.map(async (node) => {
      const named = await namedBy(node).catch(() => undefined);
      if (named === undefined) return;
      votes.set(named, (votes.get(named) ?? 0) + 1);
      if (votes.get(named)! > nodes.length / 2) resolve();
    });
    void Promise.all(asked).then(() => resolve());
  });
  const [most] = [...votes].sort(([, one], [, other]) => other - one);
  if (!most) throw new NoLeader(nodes.length);
  return most[0];
}

/** Returns the node that a node takes for the leader; undefined when it names none. */
async function namedBy(node: EventStoreDBClient): Promise<string | undefined> {
  const client = await (
    node as unknown as { getGRPCClient(client: typeof GossipClient, name: string): Promise<GossipClient> }
  ).getGRPCClient(GossipClient, 'gossip');
  const deadline = new Date(Date.now() + ANSWER_MS);
  const info = await new Promise<ClusterInfo>((resolve, reject) => {
    client.read(new Empty(), new Metadata(), { deadline }, (error, answer) =>
      error ? reject(error) : resolve(answer),
    );
  });
  const leader = info
    .getMembersList()
    .find((member) => member.getIsAlive() && member.getState() === MemberInfo.VNodeState.LEADER)
    ?.getHttpEndPoint();
  return leader && `${leader.getAddress()}:${leader.getPort()}`;
}
