import { shape } from '@fairlead/api';

const { boolean, integer, noted, nothing, number, object, text } = shape;

/** What the service says of itself to SDKs. */
export const info = object('Info', {
  version: noted(text, 'Of the platform API that clients compare features with.'),
  git_sha: nothing,
  license_expiration_time: nothing,
  batch_ingest_config: object('BatchIngestConfig', {
    use_multipart_endpoint: boolean,
    scale_up_qsize_trigger: integer,
    scale_up_nthreads_limit: integer,
    scale_down_nempty_trigger: integer,
    size_limit: integer,
    size_limit_bytes: integer,
  }),
  instance_flags: object('InstanceFlags', {
    zstd_compression_enabled: boolean,
    dataset_examples_multipart_enabled: boolean,
    fairlead_version: text,
    upload_limits: object('UploadLimits', {
      body_bytes: integer,
      row_bytes: integer,
      header_bytes: integer,
      depth: integer,
      decompression_ratio: integer,
    }),
  }),
  customer_info: nothing,
});

export const diskHealth = object('DiskHealth', { clickhouse_disk_free_pct: number });
