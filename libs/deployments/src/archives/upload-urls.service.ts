import { timingSafeEqual } from 'node:crypto';
import { Vault } from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';
import { UploadRefused } from './source.errors';

/** Validity of an upload URL (ms). */
const VALID_MS = 60 * 60 * 1000;

/** Makes URLs to upload to that need no key, and recognises them. */
@Injectable()
export class UploadUrls {
  constructor(private readonly vault: Vault) {}

  /** Path and query of a URL that takes one archive for an hour. */
  async issue(deploymentId: string, uploadId: string): Promise<string> {
    const expires = Date.now() + VALID_MS;
    const signature = await this.sign(deploymentId, uploadId, expires);
    return `/v2/deployments/${deploymentId}/uploads/${uploadId}?expires=${expires}&signature=${signature}`;
  }

  /** @throws UploadRefused */
  async check(deploymentId: string, uploadId: string, expires: number, signature: string): Promise<void> {
    const expected = Buffer.from(await this.sign(deploymentId, uploadId, expires));
    const given = Buffer.from(signature);
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
      throw new UploadRefused('The upload URL is not valid.');
    }
    if (Date.now() > expires) throw new UploadRefused('The upload URL has expired; ask for a new one.');
  }

  private sign(deploymentId: string, uploadId: string, expires: number): Promise<string> {
    return this.vault.digest('upload-urls', JSON.stringify(['PUT', deploymentId, uploadId, expires]));
  }
}
