import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { Provider } from './provider';
import type { Token } from './token';

@Entity('oauth_providers')
@Index('oauth_providers_list', ['tenant_id', 'created_at', 'id'])
export class OAuthProviderEntity {
  @PrimaryColumn('uuid') readonly id!: string;
  @Column('uuid') readonly tenant_id!: string;
  @Column('timestamptz') readonly created_at!: Date;
  @Column('simple-json') readonly state!: Provider;
}

@Entity('oauth_tokens')
@Index('oauth_tokens_list', ['tenant_id', 'provider', 'created_at'])
@Index('oauth_tokens_provider', ['provider'])
export class OAuthTokenEntity {
  @PrimaryColumn('uuid') readonly id!: string;
  @Column('uuid') readonly tenant_id!: string;
  /** Id of the provider's stream. */
  @Column('uuid') readonly provider!: string;
  @Column('text', { nullable: true }) readonly user_id!: string | null;
  @Column('boolean') readonly is_default!: boolean;
  @Column('timestamptz') readonly created_at!: Date;
  @Column('simple-json') readonly state!: Token;
}

@Entity('oauth_connections')
@Index('oauth_connections_list', ['tenant_id', 'agent_id'])
@Index('oauth_connections_token', ['token_id'])
export class OAuthConnectionEntity {
  @PrimaryColumn('uuid') readonly id!: string;
  @Column('uuid') readonly tenant_id!: string;
  @Column('text') readonly agent_id!: string;
  @ForeignKey(() => OAuthTokenEntity, { name: 'oauth_connections_token_id_fkey', onDelete: 'CASCADE' })
  @Column('uuid')
  readonly token_id!: string;
  @Column('timestamptz') readonly created_at!: Date;
}
