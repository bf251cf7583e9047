import { EventStoreDBClient } from '@eventstore/db-client';
import { GossipClient } from '@eventstore/db-client/generated/gossip_grpc_pb';
import { type ClusterInfo, MemberInfo } from '@eventstore/db-client/generated/gossip_pb';
import { Empty } from '@eventstore/db-client/generated/shared_pb';
import { Metadata } from '@grpc/grpc-js';

const ANSWER_MS = 1000;
/** Parts of an address: scheme, user and password, hosts, options. */
const ADDRESS = /^(esdb(?:\+discover)?:\/\/)([^@/?]*@)?([^/?]+)(.*)$/;

/** Returns an address for each node that an address lists; none when it names a single host. */
export function nodesOf(url: string): readonly string[] {
  const [, scheme, user = '', hosts = '', options] = ADDRESS.exec(url) ?? [];
  const names = scheme === 'esdb://' ? hosts.split(',') : [];
  return names.length > 1 ? names.map((host) => `${scheme}${user}${host}${options}`) : [];
}

/** No node of the cluster is named as its only leader. */
export class NoLeader extends Error {
  constructor(nodes: number, named: number) {
    super(named === 0 ? `none of ${nodes} nodes names a leader` : `${named} of ${nodes} nodes are called leader`);
    this.name = 'NoLeader';
  }
}

/**
 * Asks all nodes at the same time which of them leads, as `host:port`. Answers as soon as more than half name the same
 * one and no other, or, after a second at most, with the only one that is named. A node that led before and hung calls
 * itself leader for some seconds after it wakes up, and others repeat it: then nobody is believed until one is left.
 * Gossip says no epochs to clients.
 * @throws NoLeader when none is named, or several are
 */
export async function findLeader(nodes: readonly EventStoreDBClient[]): Promise<string> {
  const votes = new Map<string, number>();
  const named = new Set<string>();
  const chosen = await new Promise<string | undefined>((resolve) => {
    const asked = nodes.map(async (node) => {
      const leaders = await namedBy(node).catch(() => []);
      for (const leader of leaders) named.add(leader);
      const [only] = leaders;
      if (only === undefined || leaders.length > 1) return;
      votes.set(only, (votes.get(only) ?? 0) + 1);
      if (votes.get(only)! > nodes.length / 2) resolve(only);
    });
    void Promise.all(asked).then(() => resolve(undefined));
  });
  const [only] = named;
  if (chosen === undefined && (only === undefined || named.size > 1)) throw new NoLeader(nodes.length, named.size);
  return chosen ?? only!;
}

async function namedBy(node: EventStoreDBClient): Promise<readonly string[]> {
  const client = await (
    node as unknown as { getGRPCClient(client: typeof GossipClient, name: string): Promise<GossipClient> }
  ).getGRPCClient(GossipClient, 'gossip');
  const deadline = new Date(Date.now() + ANSWER_MS);
  const info = await new Promise<ClusterInfo>((resolve, reject) => {
    client.read(new Empty(), new Metadata(), { deadline }, (error, answer) =>
      error ? reject(error) : resolve(answer),
    );
  });
  return info
    .getMembersList()
    .filter((member) => member.getIsAlive() && member.getState() === MemberInfo.VNodeState.LEADER)
    .flatMap((member) => member.getHttpEndPoint() ?? [])
    .map((place) => `${place.getAddress()}:${place.getPort()}`);
}
