import { shape } from '@fairlead/api';

const { boolean, integer, noted, number, object, text, unused } = shape;

export const info = object('Info', {
  version: noted(text, 'Version of the LangSmith API that clients compare features with.'),
  git_sha: unused,
  license_expiration_time: unused,
  batch_ingest_config: noted(
    object('BatchIngestConfig', {
      use_multipart_endpoint: noted(boolean, 'Whether SDKs send runs as `multipart/form-data`.'),
      scale_up_qsize_trigger: noted(integer, 'Number of queued runs at which an SDK starts another sending thread.'),
      scale_up_nthreads_limit: noted(integer, 'Largest number of sending threads of an SDK.'),
      scale_down_nempty_trigger: noted(integer, 'Number of empty looks at the queue after which a thread ends.'),
      size_limit: noted(integer, 'Largest number of runs in one request of an SDK.'),
      size_limit_bytes: noted(integer, 'Largest size of one request of an SDK, in bytes.'),
    }),
    'How SDKs send runs.',
  ),
  instance_flags: noted(
    object('InstanceFlags', {
      zstd_compression_enabled: noted(boolean, 'Whether bodies may be compressed with zstd.'),
      dataset_examples_multipart_enabled: noted(boolean, 'Whether examples may be sent as `multipart/form-data`.'),
      fairlead_version: noted(text, 'Version of this server, as in its changelog.'),
      upload_limits: noted(
        object('UploadLimits', {
          body_bytes: noted(integer, 'Largest body after decompression, in bytes.'),
          row_bytes: noted(integer, 'Largest element of `results`, in bytes.'),
          header_bytes: noted(integer, 'Largest size of all members beside the two lists, in bytes.'),
          depth: noted(integer, 'Deepest nesting of JSON.'),
          decompression_ratio: noted(integer, 'Largest ratio of a body to its compressed size.'),
        }),
        'Limits of an upload of an experiment.',
      ),
    }),
    'What this service can do.',
  ),
  customer_info: unused,
});

export const diskHealth = object('DiskHealth', {
  clickhouse_disk_free_pct: noted(number, 'Always 100: there is no separate analytics disk.'),
});
