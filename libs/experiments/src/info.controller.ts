import { Answers, Area, Describe, Scope, VERSION } from '@fairlead/api';
import { Controller, Get } from '@nestjs/common';
import { ExperimentLimits } from '@fairlead/runs';
import * as answers from './info.answers.schema';

/** The version of the platform API that clients compare features with: they ask for at least 0.16.14. */
const PLATFORM_VERSION = '0.16.14';

const BATCHES = {
  use_multipart_endpoint: true,
  scale_up_qsize_trigger: 1000,
  scale_up_nthreads_limit: 16,
  scale_down_nempty_trigger: 4,
  size_limit: 100,
  size_limit_bytes: 20_971_520,
};

/** Facts that SDKs ask for before they send anything; needs no key. */
@Area('Service')
@Controller('api/v1/info')
export class InfoController {
  constructor(private readonly limits: ExperimentLimits) {}

  @Get()
  @Scope('public')
  @Describe({ summary: 'Get versions and limits' })
  @Answers({ 200: answers.info })
  info() {
    return {
      version: PLATFORM_VERSION,
      git_sha: null,
      license_expiration_time: null,
      batch_ingest_config: BATCHES,
      instance_flags: flagsOf(this.limits),
      customer_info: null,
    };
  }

  /** There is no separate analytics disk here: the member that clients read says that none of it is in use. */
  @Get('health')
  @Scope('public', { load: 'vital' })
  @Describe({ summary: 'Get the health that SDKs ask for' })
  @Answers({ 200: answers.diskHealth })
  health() {
    return { clickhouse_disk_free_pct: 100 };
  }
}

function flagsOf({ maxBytes, maxRowBytes, maxHeaderBytes, maxDepth, maxRatio }: ExperimentLimits) {
  return {
    // Runs in parts may come compressed; the SDK for Python warns where that is not so.
    zstd_compression_enabled: true,
    dataset_examples_multipart_enabled: true,
    fairlead_version: VERSION,
    upload_limits: {
      body_bytes: maxBytes,
      row_bytes: maxRowBytes,
      header_bytes: maxHeaderBytes,
      depth: maxDepth,
      decompression_ratio: maxRatio,
    },
  };
}
