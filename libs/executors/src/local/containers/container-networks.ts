import { hostname } from 'node:os';
import { type EngineClient, EngineRefused } from './engine.client';

export interface ContainerNetwork {
  readonly name: string;
  readonly subnet: string;
  readonly gateway: string;
}

/** Path of Podman's own API, in which networks can be closed to containers of others. */
const LIBPOD = '/v4.0.0/libpod';

/** Finds the network of a container, in which no other container can be reached, and makes it where it is not there. */
export class ContainerNetworks {
  /** One after the other: Docker makes two networks of the same name when they are asked for at once. */
  private turn: Promise<unknown> = Promise.resolve();

  constructor(
    readonly shared: string,
    private readonly labels: Readonly<Record<string, string>>,
  ) {}

  /**
   * Docker has addresses for about thirty networks, and keeps containers of one network apart when it is told to. Podman
   * keeps only networks apart, and has addresses for thousands: each container has one of its own there.
   */
  of(engine: EngineClient, container: string): Promise<ContainerNetwork> {
    const found = this.turn.then(() => this.make(engine, engine.kind === 'podman' ? container : this.shared));
    this.turn = found.catch(() => undefined);
    return found;
  }

  private async make(engine: EngineClient, name: string): Promise<ContainerNetwork> {
    const { labels } = this;
    if (engine.kind === 'podman') {
      const body = { name, driver: 'bridge', labels, options: { isolate: 'true' } };
      await engine.call('POST', `${LIBPOD}/networks/create`, { body });
    } else {
      const Options = { 'com.docker.network.bridge.enable_icc': 'false' };
      const body = { Name: name, Driver: 'bridge', CheckDuplicate: true, Labels: labels, Options };
      await engine.call('POST', '/networks/create', { body }).catch((error: unknown) => {
        if (!(error instanceof EngineRefused && error.status === 409)) throw error;
      });
    }
    const found = (await engine.call('GET', `/networks/${name}`)) as {
      IPAM: { Config: readonly { Subnet: string; Gateway: string }[] };
    };
    const { Subnet: subnet, Gateway: gateway } = found.IPAM.Config[0]!;
    return { name, subnet, gateway };
  }
}

/**
 * Returns the way by which containers reach this machine: the gateway of their network, a name when the engine is in a
 * virtual machine, as it is on macOS, or undefined when there is none, as with an engine that does not run as root.
 */
export async function wayFrom(engine: EngineClient): Promise<'gateway' | { readonly host: string } | undefined> {
  if (process.platform !== 'linux')
    return { host: engine.kind === 'podman' ? 'host.containers.internal' : 'host.docker.internal' };
  const info = (await engine.call('GET', '/info')) as { Name?: string; SecurityOptions?: readonly string[] };
  const isRootless = info.SecurityOptions?.some((option) => option.includes('rootless'));
  return info.Name === hostname() && !isRootless ? 'gateway' : undefined;
}
