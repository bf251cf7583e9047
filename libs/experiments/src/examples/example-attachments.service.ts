import { timingSafeEqual } from 'node:crypto';
import { Vault } from '@fairlead/eventing';
import { parseUrl } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';
import type { CommandContext } from '@fairlead/api';
import { PublicUrl } from '../runs/run-attachments.service';
import type { AttachmentUrls } from './examples.queries';
import { object, text } from '../common/platform-json';

/** Validity of the address of an attachment (ms). */
const VALID_MS = 60 * 60 * 1000;

/** Which attachment of an example an address gives, and until when (milliseconds since 1970). */
interface ExampleAttachmentAddress {
  readonly tenant: string;
  readonly example: string;
  readonly dataset: string;
  readonly name: string;
  readonly sha256: string;
  readonly expires: number;
}

/** Makes addresses of examples' attachments that need no key, and recognises them. */
@Injectable()
export class ExampleAttachments {
  constructor(
    private readonly vault: Vault,
    private readonly publicUrl: PublicUrl,
  ) {}

  /** Makes addresses for who sent a request; they are without a host when the request names none. */
  urls({ origin, tenantId }: Pick<CommandContext, 'origin' | 'tenantId'>): AttachmentUrls {
    const named = this.publicUrl.value ?? origin;
    const base = parseUrl(named) ? named : '';
    const expires = Date.now() + VALID_MS;
    return async ({ id, dataset_id: dataset, attachments }) => {
      const members: Record<string, string> = {};
      for (const { name, type, sha256 } of attachments ?? []) {
        const address = { tenant: tenantId, example: id, dataset, name, sha256, expires };
        const query = new URLSearchParams({
          ...{ name, dataset, sha256, tenant: address.tenant, expires: String(expires) },
          signature: await this.sign(address),
        });
        const url = `${base}/api/v1/examples/${id}/attachment?${query.toString()}`;
        members[`attachment.${name}`] = object({ presigned_url: text(url), mime_type: text(type) });
      }
      return object(members);
    };
  }

  /** True when an address was made here and may still be used. */
  async isValid(address: ExampleAttachmentAddress, signature: string): Promise<boolean> {
    const expected = Buffer.from(await this.sign(address));
    const given = Buffer.from(signature);
    return given.length === expected.length && timingSafeEqual(given, expected) && Date.now() <= address.expires;
  }

  private sign({ tenant, example, dataset, name, sha256, expires }: ExampleAttachmentAddress): Promise<string> {
    return this.vault.digest(
      'attachment-urls',
      JSON.stringify(['GET', 'example', tenant, dataset, example, name, sha256, expires]),
    );
  }
}
