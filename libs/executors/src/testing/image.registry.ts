import { createHash } from 'node:crypto';
import { createReadStream, readFileSync, statSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The one layer of an image: a file that holds a tar archive. */
export interface Layer {
  readonly file: string;
  readonly digest: string;
  readonly size: number;
}

/**
 * Configuration of an image, with the members that Docker names: `Cmd`, `Env`, `User`, `ExposedPorts`, `Healthcheck`.
 */
type ImageConfig = Readonly<Record<string, unknown>>;

const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';
const CONFIG = 'application/vnd.oci.image.config.v1+json';
const LAYER = 'application/vnd.oci.image.layer.v1.tar';

/** A registry of images at a port of this machine, from which container engines pull without TLS. */
export class ImageRegistry {
  private readonly manifests = new Map<string, Buffer>();
  private readonly blobs = new Map<string, Buffer | Layer>();
  private readonly server: Server = createServer((request, response) => this.answer(request, response));

  async start(): Promise<void> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
  }

  /** The name of an image here, for an engine. */
  reference(name: string): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}/${name}`;
  }

  /**
   * Gives a tag an image; answers the digest of its manifest. `size`: what the manifest says that the layer has, when it
   * is not what it has: its blob is then sent until the client goes away.
   */
  push(
    name: string,
    tag: string,
    layer: Layer,
    config: ImageConfig,
    { architecture = ARCHITECTURE, size = layer.size } = {},
  ): string {
    const image = Buffer.from(
      JSON.stringify({ architecture, os: 'linux', config, rootfs: { type: 'layers', diff_ids: [layer.digest] } }),
    );
    const digest = size === layer.size ? layer.digest : digestOf(Buffer.from(`${name}:${tag}`));
    const manifest = Buffer.from(
      JSON.stringify({
        schemaVersion: 2,
        mediaType: MANIFEST,
        config: { mediaType: CONFIG, digest: digestOf(image), size: image.length },
        layers: [{ mediaType: LAYER, digest, size }],
      }),
    );
    this.blobs.set(digestOf(image), image).set(digest, { ...layer, digest, size });
    this.manifests.set(`${name}:${tag}`, manifest).set(`${name}:${digestOf(manifest)}`, manifest);
    return digestOf(manifest);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private answer({ url = '', method }: IncomingMessage, response: ServerResponse): void {
    const [, name, kind, key] = /^\/v2\/(.+)\/(manifests|blobs)\/([^/]+)$/.exec(url) ?? [];
    if (url === '/v2/') return void response.end('{}');
    const found = kind === 'manifests' ? this.manifests.get(`${name}:${key}`) : this.blobs.get(key ?? '');
    if (!found)
      return void response.writeHead(404).end('{"errors":[{"code":"MANIFEST_UNKNOWN","message":"manifest unknown"}]}');
    const length = Buffer.isBuffer(found) ? found.length : found.size;
    const type = kind === 'manifests' ? MANIFEST : 'application/octet-stream';
    const digest = kind === 'manifests' ? digestOf(found as Buffer) : key;
    response.writeHead(200, { 'content-type': type, 'content-length': length, 'docker-content-digest': digest });
    if (method === 'HEAD') return void response.end();
    if (Buffer.isBuffer(found)) return void response.end(found);
    // The rest of a layer that is shorter than it says never comes.
    const isWhole = statSync(found.file).size === found.size;
    createReadStream(found.file).pipe(response, { end: isWhole });
  }
}

/** A layer of a file that holds a tar archive. */
export function layerOf(file: string): Layer {
  const bytes = readFileSync(file);
  return { file, digest: digestOf(bytes), size: bytes.length };
}

/** Name of this machine's architecture in images. */
const ARCHITECTURE = process.arch === 'x64' ? 'amd64' : process.arch;

function digestOf(bytes: Buffer): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}
