/** What integrations and OAuth providers tell others. Their streams are `integration-<id>` and `oauthProvider-<id>`. */

/** `IntegrationAdded` */
export interface IntegrationAddedMessage {
  readonly name: string;
  readonly provider: string;
  readonly base_url: string;
}

/** `OAuthProviderAdded`: `provider_id` is the tenant's own name for it. */
export interface OAuthProviderAddedMessage {
  readonly provider_id: string;
  readonly name: string;
}
