import { type Reading, startReading } from './testing/reading';

let reading: Reading;
beforeAll(async () => {
  reading = await startReading();
});
afterAll(() => reading.stop());

it.each(['/api/v1/info', '/api/info', '/info'])('says at %s, without a key, what SDKs ask first', async (url) => {
  const answer = await reading.send('GET', url, undefined, 'nobody' as 'a');
  expect(answer.status).toBe(200);
  expect(Object.keys(answer.json)).toEqual([
    ...['version', 'git_sha', 'license_expiration_time', 'batch_ingest_config', 'instance_flags', 'customer_info'],
  ]);
  expect(answer.json.version).toBe('0.16.14');
  expect(answer.json.batch_ingest_config).toEqual({
    use_multipart_endpoint: true,
    scale_up_qsize_trigger: 1000,
    scale_up_nthreads_limit: 16,
    scale_down_nempty_trigger: 4,
    size_limit: 100,
    size_limit_bytes: 20971520,
  });
  expect(answer.json.instance_flags.zstd_compression_enabled).toBe(true);
  expect(answer.json.instance_flags.upload_limits).toMatchObject({
    body_bytes: 268435456,
    row_bytes: 16777216,
    depth: 100,
  });
});

it('says that its storage is healthy', async () => {
  expect((await reading.get('/info/health')).json).toEqual({ clickhouse_disk_free_pct: 100 });
});
