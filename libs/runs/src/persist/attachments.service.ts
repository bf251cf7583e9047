import { timingSafeEqual } from 'node:crypto';
import { Readable } from 'node:stream';
import type { CommandContext } from '@fairlead/api';
import { PayloadStore } from '@fairlead/blobs';
import { Vault, Workspaces } from '@fairlead/eventing';
import { Forbidden, int, note, NotFound, parseUrl, str, uuid } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { object, text } from '../common/platform-json';

/** Validity of the address of an attachment (ms). */
const VALID_MS = 60 * 60 * 1000;

export interface AttachmentLink {
  readonly type: string;
  readonly url: string;
}

type Row = {
  readonly id: string;
  readonly attachments?: readonly { readonly name: string; readonly type: string }[] | null;
};
export type AttachmentLinks = (run: Row) => Promise<ReadonlyMap<string, AttachmentLink>>;

/** Where clients reach this service, without a path; what their requests name when it is undefined. */
export class PublicUrl {
  constructor(readonly value?: string) {}
}

/** Query of an address that was signed, with what `of` it names: a run or an example. */
export const signedQuery = (of: string) => ({
  tenant: note(uuid(), `Workspace of the ${of}.`),
  expires: note(int(), 'End of validity of the URL, in milliseconds since 1970.'),
  signature: note(str(), 'Signature of the URL, made by the service.'),
});

/** Addresses of attachments that need no key, and what is behind them. */
@Injectable()
export class Attachments {
  constructor(
    private readonly vault: Vault,
    private readonly publicUrl: PublicUrl,
    private readonly payloads: PayloadStore,
    private readonly workspaces: Workspaces,
  ) {}

  /** The links of the attachments of runs, by their names. */
  links(context: CommandContext): AttachmentLinks {
    const address = this.addresses(context);
    return async ({ id, attachments }) => {
      const links = new Map<string, AttachmentLink>();
      for (const { name, type } of attachments ?? []) {
        const query = { name, tenant: context.tenantId };
        links.set(name, { type, url: await address(`runs/${id}`, query, [context.tenantId, id, name]) });
      }
      return links;
    };
  }

  /** The addresses of an example's attachments as JSON text. */
  urls(context: Pick<CommandContext, 'origin' | 'tenantId'>) {
    const [address, tenant] = [this.addresses(context), context.tenantId];
    return async (example: {
      readonly id: string;
      readonly dataset_id: string;
      readonly attachments?:
        | readonly { readonly name: string; readonly type: string; readonly sha256: string }[]
        | null;
    }): Promise<string> => {
      const { id, dataset_id: dataset, attachments } = example;
      const links = new Map<string, AttachmentLink>();
      for (const { name, type, sha256 } of attachments ?? []) {
        const signed = ['example', tenant, dataset, id, name, sha256];
        links.set(name, { type, url: await address(`examples/${id}`, { name, dataset, sha256, tenant }, signed) });
      }
      return linksJson(links);
    };
  }

  /** @throws Forbidden for an address that was not made here or may no longer be used, WorkspaceStopped */
  async require(
    signed: readonly string[],
    { tenant, expires, signature }: { readonly tenant: string; readonly expires: number; readonly signature: string },
  ): Promise<void> {
    const [expected, given] = [Buffer.from(await this.sign(signed, expires)), Buffer.from(signature)];
    const isValid = given.length === expected.length && timingSafeEqual(given, expected) && Date.now() <= expires;
    if (!isValid) throw new Forbidden('The URL of the attachment is not valid, or no longer.');
    await this.workspaces.requireWorking(tenant);
  }

  /** Answers the content, which is shown to nobody as a page. @throws NotFound */
  async send(
    reply: FastifyReply,
    tenant: string,
    found: { readonly type: string; readonly sha256: string; readonly bytes: string } | undefined,
  ): Promise<Readable> {
    const pieces = found && (await this.payloads.read(tenant, found.sha256));
    if (!pieces) throw new NotFound('Attachment not found.');
    void reply.headers({
      'content-type': found.type,
      'content-length': found.bytes,
      'content-disposition': 'attachment',
      'content-security-policy': 'sandbox',
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, no-store',
    });
    return Readable.from(pieces, { objectMode: false });
  }

  /** Makes addresses for who sent a request; they are without a host when the request names none. */
  private addresses({ origin }: Pick<CommandContext, 'origin'>) {
    const named = this.publicUrl.value ?? origin;
    const base = parseUrl(named) ? named : '';
    const expires = Date.now() + VALID_MS;
    return async (owner: string, query: Readonly<Record<string, string>>, signed: readonly string[]) => {
      const signature = await this.sign(signed, expires);
      const search = new URLSearchParams({ ...query, expires: String(expires), signature });
      return `${base}/api/v1/${owner}/attachment?${search.toString()}`;
    };
  }

  private sign(signed: readonly string[], expires: number): Promise<string> {
    return this.vault.digest('attachment-urls', JSON.stringify(['GET', ...signed, expires]));
  }
}

/** `s3_urls` of a run as JSON: where clients look for its attachments. */
export function attachmentUrls(links: ReadonlyMap<string, AttachmentLink>): string {
  return links.size === 0 ? 'null' : linksJson(links);
}

function linksJson(links: ReadonlyMap<string, AttachmentLink>): string {
  const members = [...links].map(([name, { type, url }]) => [
    `attachment.${name}`,
    object({ presigned_url: text(url), mime_type: text(type) }),
  ]);
  return object(Object.fromEntries(members) as Record<string, string>);
}
