import { timingSafeEqual } from 'node:crypto';
import { Vault } from '@fairlead/eventing';
import { parseUrl } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';
import type { CommandContext } from '@fairlead/api';
import { object, text } from '../common/platform-json';
import type { RunRow } from '../runs/run-json';

/** Validity of the address of an attachment (ms). */
const VALID_MS = 60 * 60 * 1000;

/** Which attachment an address gives, and until when (milliseconds since 1970). */
interface AttachmentAddress {
  readonly tenant: string;
  readonly run: string;
  readonly name: string;
  readonly expires: number;
}

/** The addresses of a run's attachments by their names. */
export type AttachmentLinks = (row: RunRow) => Promise<ReadonlyMap<string, AttachmentLink>>;

export interface AttachmentLink {
  /** The media type that was sent. */
  readonly type: string;
  readonly url: string;
}

/** Where clients reach this service, without a path; what their requests name when it is undefined. */
export class PublicUrl {
  constructor(readonly value?: string) {}
}

/** Makes addresses of attachments that need no key, and recognises them. */
@Injectable()
export class RunAttachments {
  constructor(
    private readonly vault: Vault,
    private readonly publicUrl: PublicUrl,
  ) {}

  /** Makes addresses for who sent a request; they are without a host when the request names none. */
  links({ origin, tenantId }: CommandContext): AttachmentLinks {
    const named = this.publicUrl.value ?? origin;
    const base = parseUrl(named) ? named : '';
    const expires = Date.now() + VALID_MS;
    return async (row) => {
      const links = new Map<string, AttachmentLink>();
      for (const { name, type } of row.attachments ?? []) {
        const address = { tenant: tenantId, run: row.id, name, expires };
        const query = new URLSearchParams({
          name,
          tenant: address.tenant,
          expires: String(expires),
          signature: await this.sign(address),
        });
        links.set(name, { type, url: `${base}/api/v1/runs/${row.id}/attachment?${query.toString()}` });
      }
      return links;
    };
  }

  /** True when an address was made here and may still be used. */
  async isValid(address: AttachmentAddress, signature: string): Promise<boolean> {
    const expected = Buffer.from(await this.sign(address));
    const given = Buffer.from(signature);
    return given.length === expected.length && timingSafeEqual(given, expected) && Date.now() <= address.expires;
  }

  private sign({ tenant, run, name, expires }: AttachmentAddress): Promise<string> {
    return this.vault.digest('attachment-urls', JSON.stringify(['GET', tenant, run, name, expires]));
  }
}

/** `s3_urls` of a run as JSON: where clients look for its attachments. */
export function attachmentUrls(links: ReadonlyMap<string, AttachmentLink>): string {
  if (links.size === 0) return 'null';
  const members = [...links].map(([name, { type, url }]) => [
    `attachment.${name}`,
    object({ presigned_url: text(url), mime_type: text(type) }),
  ]);
  return object(Object.fromEntries(members) as Record<string, string>);
}
