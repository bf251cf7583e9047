import { bool, int, note, num, object, str, unused } from '@fairlead/schema';

const uploadLimits = object('UploadLimits', {
  body_bytes: note(int(), 'Largest body after decompression, in bytes.'),
  row_bytes: note(int(), 'Largest element of `results`, in bytes.'),
  header_bytes: note(int(), 'Largest size of all members beside the two lists, in bytes.'),
  depth: note(int(), 'Deepest nesting of JSON.'),
  decompression_ratio: note(int(), 'Largest ratio of a body to its compressed size.'),
});
const instanceFlags = object('InstanceFlags', {
  zstd_compression_enabled: note(bool(), 'Whether bodies may be compressed with zstd.'),
  dataset_examples_multipart_enabled: note(bool(), 'Whether examples may be sent as `multipart/form-data`.'),
  fairlead_version: note(str(), 'Version of this server, as in its changelog.'),
  upload_limits: note(uploadLimits, 'Limits of an upload of an experiment.'),
});
const batchIngestConfig = object('BatchIngestConfig', {
  use_multipart_endpoint: note(bool(), 'Whether SDKs send runs as `multipart/form-data`.'),
  scale_up_qsize_trigger: note(int(), 'Number of queued runs at which an SDK starts another sending thread.'),
  scale_up_nthreads_limit: note(int(), 'Largest number of sending threads of an SDK.'),
  scale_down_nempty_trigger: note(int(), 'Number of empty looks at the queue after which a thread ends.'),
  size_limit: note(int(), 'Largest number of runs in one request of an SDK.'),
  size_limit_bytes: note(int(), 'Largest size of one request of an SDK, in bytes.'),
});
export const info = object('Info', {
  version: note(str(), 'Version of the LangSmith API that clients compare features with.'),
  git_sha: unused,
  license_expiration_time: unused,
  batch_ingest_config: note(batchIngestConfig, 'How SDKs send runs.'),
  instance_flags: note(instanceFlags, 'What this service can do.'),
  customer_info: unused,
});

export const diskHealth = object('DiskHealth', {
  clickhouse_disk_free_pct: note(num(), 'Always 100: there is no separate analytics disk.'),
});
